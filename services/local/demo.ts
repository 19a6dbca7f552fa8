/** The demo organization of a local run: made once through the API, with a published and shared sample SOP. */
import { readFile } from 'node:fs/promises';
import type { DataFolder, Demo } from './data-folder.ts';

const sample = new URL('../../tests/fixtures/incident-response-sop.json', import.meta.url);

/** Makes what is missing of the demo organization, and gives its API key and public link. Goes on where a crash left it. */
export async function seedDemo(
  home: DataFolder,
  base: string,
  appUrl: string,
): Promise<{ apiKey: string; link: string }> {
  const ask = createClient(base);
  const known: Demo = { ...home.demo };
  const keep = async (more: Partial<Demo>) => {
    Object.assign(known, more);
    await home.saveDemo(known);
  };
  await keep({});
  const apiKey = known.apiKey ?? (await createApiKey(ask, known));
  await keep({ apiKey });
  const path = known.link ?? (await shareSample(ask, apiKey));
  await keep({ link: path });
  return { apiKey, link: appUrl + path };
}

async function createApiKey(ask: Post, { email, password }: Demo): Promise<string> {
  const account = {
    organization_name: 'Demo organization',
    organization_slug: 'demo',
    name: 'Demo Admin',
    email,
    password,
  };
  const registered = await ask('/auth/register', account);
  const session = registered.access_token ? registered : await ask('/auth/login', { email, password });
  const key = await ask('/api-keys', { name: 'Demo', role: 'admin' }, String(session.access_token));
  return String(key.key);
}

async function shareSample(ask: Post, apiKey: string): Promise<string> {
  const sop: unknown = JSON.parse(await readFile(sample, 'utf8'));
  const document = await ask('/documents', sop, apiKey, 'demo-sample-sop');
  const id = String(document.id);
  await ask(`/documents/${id}/publish`, undefined, apiKey, 'demo-sample-publish');
  const link = await ask(`/documents/${id}/share-token`, undefined, apiKey);
  return `/embed/${link.org_slug}/${link.token}`;
}

type Post = (
  path: string,
  body: unknown,
  token?: string,
  idempotencyKey?: string,
) => Promise<Record<string, unknown>>;

function createClient(base: string): Post {
  return async (path, body, token, idempotencyKey) => {
    const response = await fetch(base + path, {
      method: 'POST',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (typeof answer !== 'object' || answer === null) throw new Error(`${path} gave no object`);
    // an account that is there already is logged into instead
    if (!response.ok && response.status !== 409)
      throw new Error(`The demo could not be made: ${path}: ${JSON.stringify(answer)}`);
    return { ...answer };
  };
}
