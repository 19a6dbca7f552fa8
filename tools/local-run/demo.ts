/** The demo organization of a local run, created through the API, with a published and shared SOP. */
import { readFile } from 'node:fs/promises';
import type { DemoAccess } from './banner.ts';
import type { DataFolder, Demo } from './data-folder.ts';

const sample = new URL('../../tests/fixtures/incident-response-sop.json', import.meta.url);

/** Where the demo organization is created, and whether it can be. */
export interface DemoOptions {
  /** The URL of the API. */
  base: string;
  /** The beginning of public links. */
  appUrl: string;
  isRegistrationOpen: boolean;
}

/**
 * Creates what is missing of the demo organization. Returns undefined if there is none yet and registration is closed.
 */
export async function seedDemo(
  dataFolder: DataFolder,
  { base, appUrl, isRegistrationOpen }: DemoOptions,
): Promise<DemoAccess | undefined> {
  if (!dataFolder.demo.apiKey && !isRegistrationOpen) return undefined;
  const post = createClient(base);
  const demo: Demo = { ...dataFolder.demo };
  const save = async (more: Partial<Demo>) => {
    Object.assign(demo, more);
    await dataFolder.saveDemo(demo);
  };
  await save({});
  const apiKey = demo.apiKey ?? (await createApiKey(post, demo));
  await save({ apiKey });
  const path = demo.link ?? (await shareSample(post, apiKey));
  await save({ link: path });
  return { apiKey, link: appUrl + path };
}

async function createApiKey(post: Post, { email, password }: Demo): Promise<string> {
  const account = { organization_name: 'Demo organization', name: 'Demo Admin', email, password };
  let registered = await post('/auth/register', { ...account, organization_slug: 'demo' });
  // another organization has the slug: the service chooses a free one
  if (registered.code === 'slug_taken') registered = await post('/auth/register', account);
  const session = registered.access_token ? registered : await post('/auth/login', { email, password });
  const key = await post('/api-keys', { name: 'Demo', role: 'admin' }, String(session.access_token));
  return String(key.key);
}

async function shareSample(post: Post, apiKey: string): Promise<string> {
  const sop: unknown = JSON.parse(await readFile(sample, 'utf8'));
  const document = await post('/documents', sop, apiKey, 'demo-sample-sop');
  const id = String(document.id);
  await post(`/documents/${id}/publish`, undefined, apiKey, 'demo-sample-publish');
  const link = await post(`/documents/${id}/share-token`, undefined, apiKey);
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
    const result: unknown = await response.json();
    if (typeof result !== 'object' || result === null)
      throw new Error(`The response of ${path} is not a JSON object`);
    // 409: the account already exists, so the caller logs in instead
    if (!response.ok && response.status !== 409)
      throw new Error(`Could not create the demo organization: ${path}: ${JSON.stringify(result)}`);
    return { ...result };
  };
}
