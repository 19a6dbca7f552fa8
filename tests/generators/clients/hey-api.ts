/** Uploads a template, exports a Word file and creates a webhook with the client that Hey API generates. */
import { readFile } from 'node:fs/promises';
import { client } from './generated/client.gen.ts';
import { createTemplate, createWebhook, exportWord } from './generated/index.ts';

const { BASE = '', KEY = '', DOC_ID = '', TEMPLATE = '', HOOK_URL = '' } = process.env;
client.setConfig({ baseUrl: BASE, auth: KEY, throwOnError: true });

const file = new File([new Uint8Array(await readFile(TEMPLATE))], 'template.docx');
const template = await createTemplate({
  body: { name: 'Hey API', indent_inches: 0.75, file },
  throwOnError: true,
});
const word = await exportWord({
  path: { doc_id: DOC_ID },
  query: { template_id: template.data.id },
  throwOnError: true,
});
const webhook = await createWebhook({
  body: { name: 'Hey API', url: HOOK_URL, event_types: ['document.published'] },
  throwOnError: true,
});
const bytes = Buffer.from(await word.data.arrayBuffer());
const secret: string | null = webhook.data.secret;
const result = { template: template.data, word: bytes.toString('base64'), webhook: webhook.data.id, secret };
process.stdout.write(JSON.stringify(result));
