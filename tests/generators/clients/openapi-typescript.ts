/** Uploads a template, exports a Word file and creates a webhook with openapi-fetch and generated types. */
import { readFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import type { paths } from './generated/schema.ts';

const { BASE = '', KEY = '', DOC_ID = '', TEMPLATE = '', HOOK_URL = '' } = process.env;
const api = createClient<paths>({ baseUrl: BASE, headers: { Authorization: `Bearer ${KEY}` } });

const file = new File([new Uint8Array(await readFile(TEMPLATE))], 'template.docx');
const template = await api.POST('/api/v1/templates', {
  body: { name: 'openapi-typescript', indent_inches: 0.75, file },
  bodySerializer(body) {
    const form = new FormData();
    for (const [name, value] of Object.entries(body))
      form.append(name, value instanceof Blob ? value : String(value));
    return form;
  },
});
if (!template.data) throw new Error(template.error.detail);
const word = await api.GET('/api/v1/documents/{doc_id}/export/word', {
  params: { path: { doc_id: DOC_ID }, query: { template_id: template.data.id } },
  parseAs: 'blob',
});
if (!word.data) throw new Error(word.error.detail);
const webhook = await api.POST('/api/v1/webhooks', {
  body: { name: 'openapi-typescript', url: HOOK_URL, event_types: ['document.published'] },
});
if (!webhook.data) throw new Error(webhook.error.detail);
const bytes = Buffer.from(await word.data.arrayBuffer());
const secret: string | null = webhook.data.secret;
const result = { template: template.data, word: bytes.toString('base64'), webhook: webhook.data.id, secret };
process.stdout.write(JSON.stringify(result));
