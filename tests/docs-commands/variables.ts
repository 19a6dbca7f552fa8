/** Creates the values of shell variables in the pages: an API key, a document, a webhook, encryption keys and URIs. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apiClient, createWebhook, must, shareDocument, until, webhookReceiver } from '#libs/testing';

/** Creates a document, a share token and a delivered webhook in the instance that printed this banner. */
export async function createInstanceVariables(banner: string) {
  const [, BASE = ''] = /API +(http:\/\/[\d.:]+)/.exec(banner) ?? [];
  const [, KEY = ''] = /Demo API key +(\S+)/.exec(banner) ?? [];
  const api = apiClient(BASE);
  const receiver = await webhookReceiver();
  const config = await createWebhook(api, KEY, receiver.url);
  const listener = await must(api, 'POST', '/webhooks/listeners', { as: KEY });
  const document = await shareDocument(api, KEY, { title: 'Opening the vault' });
  const entry = await until('a delivered webhook', async () => {
    const entries = await must(api, 'GET', '/webhooks/events', { as: KEY });
    return entries.find(({ status }: { status: string }) => status === 'delivered');
  });
  const variables: Record<string, string> = {
    BASE,
    KEY,
    RECEIVER: receiver.url,
    DOC_ID: document.id,
    ORG_SLUG: document.slug,
    TOKEN: document.token,
    CONFIG_ID: config.id,
    ENTRY_ID: entry.id,
    LISTENER_ID: listener.id,
    EVENT_ID: entry.event_id,
  };
  return { variables, close: receiver.close };
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
