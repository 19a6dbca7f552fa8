/** The main use case of the system of compose.yaml, from registration to a webhook between two containers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { apiClient, httpClient, must, requestOrThrow, until } from '#libs/testing';
import { isSigned } from '../../docs/webhooks/verify.ts';
import { apiPrefix, contracts } from '../../services/contracts.ts';

/** The organization of a story, to look for its data later. */
export interface Tenant {
  key: string;
  documentId: string;
  link: string;
}

/** Checks that the ingress forwards every operation to a service that has it, and no other path. */
export async function checkRoutes(origin: string): Promise<string> {
  const client = httpClient(origin);
  const operations = contracts.flatMap((contract) => contract.operations);
  const isUnknown = async (method: string, path: string) => {
    const { status, body } = await client.request(method, path);
    return status === 405 || body?.detail === 'This route does not exist.';
  };
  for (const { method, path, at } of operations) {
    const url = (at === 'root' ? path : apiPrefix + path).replaceAll(/\{\w+\}/g, 'x');
    assert.equal(await isUnknown(method.toUpperCase(), url), false, `${method} ${url} has no route`);
  }
  for (const path of ['/nowhere', '/healthz', '/readyz', '/metrics', '/ops/organizations', '/api/v1/nowhere'])
    assert.equal(await isUnknown('GET', path), true, `${path} has a route`);
  return `${operations.length} operations`;
}

/** Registers an organization, publishes, shares and exports a document, and waits for the signed webhook. */
export async function runStory(origin: string, received: () => Promise<string>): Promise<Tenant> {
  const api = apiClient(origin);
  const unique = randomBytes(4).toString('hex');
  const person = {
    name: 'Ada',
    email: `ada-${unique}@example.com`,
    password: randomBytes(18).toString('hex'),
  };
  const account = { organization_name: `Harbour Bank ${unique}`, ...person };
  const { access_token } = await must(api, 'POST', '/auth/register', { body: account });
  const body = { name: 'Test', role: 'admin' };
  const { key } = await must(api, 'POST', '/api-keys', { as: access_token, body });
  const post = (path: string, content?: unknown) => must(api, 'POST', path, { as: key, body: content });
  const url = 'https://receiver:8443/hooks';
  const hook = { name: 'Receiver', url, event_types: ['document.published'] };
  const { secret } = await post('/webhooks', hook);
  const nodes = [{ node_type: 'section', title: 'Count the cash' }];
  const { id } = await post('/documents', { title: 'Closing the till', nodes });
  await post(`/documents/${id}/publish`);
  const share = await post(`/documents/${id}/share-token`);
  assert.ok(share.url.startsWith(`${origin}/embed/`), `${share.url} does not begin with APP_URL`);
  const tenant = { key, documentId: id, link: share.url.slice(origin.length) };
  await checkTenant(origin, tenant);
  const word = await requestOrThrow(api, 'GET', `/documents/${id}/export/word?template_id=default`, {
    as: key,
  });
  assert.equal(Buffer.from(word.bytes).toString('latin1', 0, 2), 'PK');
  await until('the webhook', async () => (await received()).includes(id));
  const requests = (await received()).split('\n').filter((line) => line.startsWith('{'));
  const webhook = JSON.parse(requests.find((line) => line.includes(id)) ?? '{}');
  const signature = webhook.headers['x-service-signature'];
  assert.ok(isSigned(secret, signature, Buffer.from(webhook.body)), 'the signature is invalid');
  await until('the delivered entry', async () => {
    const [entry] = await must(api, 'GET', '/webhooks/events', { as: key });
    return entry?.status === 'delivered';
  });
  return tenant;
}

/** Checks that a tenant's API key, document and public link work. */
export async function checkTenant(origin: string, { key, documentId, link }: Tenant): Promise<void> {
  const api = apiClient(origin);
  const document = await must(api, 'GET', `/documents/${documentId}`, { as: key });
  assert.equal(document.status, 'published');
  assert.equal((await must(api, 'GET', link)).id, documentId);
}
