/** Creates the values of shell variables in the pages: an API key, a document, a webhook, encryption keys and URIs. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '#libs/testing';
import { client } from '../../scripts/demo/api.ts';
import { startReceiver } from '../../scripts/demo/receiver.ts';

/** Creates a document, a share token and a delivered webhook in the instance that printed this banner. */
export async function createInstanceVariables(banner: string) {
  const [, BASE = ''] = /API +(http:\/\/[\d.:]+)/.exec(banner) ?? [];
  const [, KEY = ''] = /Demo API key +(\S+)/.exec(banner) ?? [];
  const api = client(`${BASE}/api/v1`, KEY);
  const hooks = await startReceiver();
  const webhook = { name: 'Reader', url: hooks.url, event_types: ['document.published'] };
  const { json: config } = await api('POST', '/webhooks', webhook);
  const { json: document } = await api('POST', '/documents', { title: 'Opening the vault' });
  await api('POST', `/documents/${document.id}/publish`);
  const { json: link } = await api('POST', `/documents/${document.id}/share-token`);
  const entry = await until('a delivered webhook', async () => {
    const { json } = await api('GET', '/webhooks/events');
    return json.find(({ status }: { status: string }) => status === 'delivered');
  });
  const variables: Record<string, string> = {
    BASE,
    KEY,
    RECEIVER: hooks.url,
    DOC_ID: document.id,
    ORG_SLUG: link.org_slug,
    TOKEN: link.token,
    CONFIG_ID: config.id,
    ENTRY_ID: entry.id,
  };
  return { variables, close: hooks.close };
}

/** Reads the settings file that docs/deployment.md creates. Returns no variables before that block has run. */
export async function readFiveProcessVariables(
  folder: string,
  mongoPort: number,
): Promise<Record<string, string>> {
  const text = await readFile(join(folder, '.data/five/settings.sh'), 'utf8').catch(() => '');
  const settings = Object.fromEntries(
    [...text.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  if (!settings.ENCRYPTION_KEYS) return {};
  const address = (user: string) =>
    `mongodb://${user}127.0.0.1:${mongoPort}/process_documents?replicaSet=rs0`;
  return {
    OLD_KEY: settings.ENCRYPTION_KEYS,
    NEW_KEY: randomBytes(32).toString('base64'),
    SHARING_URI: address(`sharing:${settings.SHARING_PASSWORD}@`),
    ADMIN_URI: address(''),
  };
}
