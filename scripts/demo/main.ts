/** Runs the main use case against a running instance and prints each step: `npm run demo`. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import {
  apiClient,
  type HttpClient,
  httpClient,
  must,
  type ReceivedRequest,
  requestOrThrow,
  type TestResponse,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { isGenuine, isSigned } from '../../docs/webhooks/verify.ts';
import { findTarget, type Target, TargetError } from './target.ts';

const fixtures = new URL('../../tests/fixtures/', import.meta.url);
const out = resolve('demo-out');

/** Part of the OpenAPI document that identifies this service. */
const reference = z.object({ info: z.object({ title: z.literal('Process Document Service') }) });

const usage = `Runs the main use case against a running instance, from registration to a verified webhook.

  npm run demo                                       uses the running instance, found as described below
  npm run demo -- --base http://127.0.0.1:8080       uses the instance at this address

Without --base, the demo uses the running instance of DATA_DIR (if set), else PORT (if set), else the running
instance of .data, else port 8080. Files are written to demo-out/.`;

const target = await readTarget();
if (target) await runDemo(target);

/** Finds the instance. Returns undefined if there is none or if the arguments contain --help. */
async function readTarget(): Promise<Target | undefined> {
  try {
    const { values } = parseArgs({ options: { base: { type: 'string' }, help: { type: 'boolean' } } });
    if (!values.help) return await findTarget(values.base, process.env);
    console.log(usage);
  } catch (error) {
    const isUsage = error instanceof TargetError || (error instanceof TypeError && 'code' in error);
    if (!isUsage) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exitCode = 1;
  }
  return undefined;
}

async function runDemo({ origin, source, notes }: Target): Promise<void> {
  for (const note of notes) console.log(note);
  console.log(`Using ${origin} (from ${source}).\n`);
  const hooks = await webhookReceiver();
  try {
    await checkInstance(origin);
    await runMainJob(origin, hooks);
    console.log(`\nAll steps done. The files are in ${out}`);
  } catch (error) {
    console.error(`\n✗ ${toMessage(error)}`);
    process.exitCode = 1;
  } finally {
    await hooks.close();
  }
}

/** Rejects unless an instance of this service runs at the address. */
async function checkInstance(origin: string): Promise<void> {
  const hint = 'Start an instance with npm start, or use another address: npm run demo -- --base URL.';
  const { body } = await httpClient(origin)
    .request('GET', '/api/v1/openapi.json')
    .catch((cause: unknown) => {
      throw new Error(`No service is running at ${origin}. ${hint}`, { cause });
    });
  if (!reference.safeParse(body).success)
    throw new Error(`The program at ${origin} is not this service. ${hint}`);
}

async function runMainJob(origin: string, receiver: WebhookReceiver): Promise<void> {
  const api = apiClient(origin);
  await mkdir(out, { recursive: true });

  const session = await step('Register', async () => {
    const unique = randomBytes(4).toString('hex');
    const person = {
      name: 'Robin Demo',
      email: `robin-${unique}@demo.example`,
      password: randomBytes(18).toString('base64url'),
    };
    const body = { organization_name: `Harbour Bank ${unique}`, ...person };
    const created = await must(api, 'POST', '/auth/register', { body });
    return stepResult(
      created,
      `${created.organization.name} (${created.organization.slug}), admin ${created.member.email}`,
    );
  });
  const key = await step('Create an API key', async () => {
    const body = { name: 'Demo', role: 'admin' };
    const created = await must(api, 'POST', '/api-keys', { as: session.access_token, body });
    return stepResult(created.key, `${created.prefix}…`);
  });
  const send = createSender(api, key);
  const secret = await step('Create a webhook', async () => {
    const { url } = receiver;
    const body = { name: 'Demo receiver', url, event_types: ['document.published'] };
    const { body: created } = await send('POST', '/webhooks', body);
    return stepResult(created.secret, `${url} for ${created.event_types.join(', ')}`);
  });
  const document = await step('Create a document with nodes', async () => {
    const sop: unknown = JSON.parse(await readFile(new URL('incident-response-sop.json', fixtures), 'utf8'));
    const { body } = await send('POST', '/documents', sop);
    return stepResult(body, `“${body.title}”, ${countNodes(body.nodes)} nodes, ${body.status}`);
  });
  await step('Publish the document', async () => {
    const { body } = await send('POST', `/documents/${document.id}/publish`);
    return stepResult(body, `${body.status} at ${body.published_at}`);
  });
  const link = await step('Create a public link', async () => {
    const { body } = await send('POST', `/documents/${document.id}/share-token`);
    const path = `/embed/${body.org_slug}/${body.token}`;
    return stepResult(path, origin + path);
  });
  await step('Read the public link', async () => {
    const { body, bytes } = await requestOrThrow(api, 'GET', link);
    await saveFile('embed.json', bytes);
    return stepResult(body, `${countNodes(body.nodes)} nodes without any credentials`);
  });
  await exportDocument(send, document.id);
  await step('Receive the signed event', async () => {
    const isPublication = ({ headers }: ReceivedRequest) =>
      headers['x-service-event'] === 'document.published';
    const find = async () => receiver.received.find(isPublication);
    const { headers, body } = await until('document.published', find, 15_000);
    const rawBody = Buffer.from(body);
    await saveFile('webhook.json', rawBody);
    const id = String(headers['webhook-id']);
    const timestamp = String(headers['webhook-timestamp']);
    const signature = String(headers['webhook-signature']);
    if (!isSigned(secret, String(headers['x-service-signature']), rawBody))
      throw new Error('X-Service-Signature is invalid');
    if (!isGenuine(secret, { id, timestamp, signature }, rawBody))
      throw new Error('webhook-signature is invalid');
    return stepResult(id, `${id}: both signatures are valid`);
  });
  await step('Read the event log', async () => {
    const findDelivered = async () => {
      const [entry] = (await send('GET', '/webhooks/events')).body;
      return entry?.status === 'delivered' && entry;
    };
    const entry = await until('a delivered entry of the event log', findDelivered, 5_000);
    return stepResult(entry, `${entry.event_type} ${entry.status} after ${entry.attempts} attempt`);
  });
}

/** Sends requests with the API key. Rejects on any status but 2xx. */
type Send = (method: string, path: string, body?: unknown) => Promise<TestResponse>;

function createSender(api: HttpClient, key: string): Send {
  return (method, path, body) => {
    // a repeated request has no second effect
    const headers = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
    return requestOrThrow(api, method, path, { as: key, body, headers });
  };
}

async function exportDocument(send: Send, id: string): Promise<void> {
  const template = await step('Upload a corporate template', async () => {
    const form = new FormData();
    form.set('name', 'Corporate');
    form.set('indent_inches', '0.4');
    form.set(
      'file',
      new Blob([await readFile(new URL('corporate-template.docx', fixtures))]),
      'corporate-template.docx',
    );
    const { body } = await send('POST', '/templates', form);
    return stepResult(
      body,
      `${body.name}, ${body.size_bytes} bytes, placeholders ${body.placeholders.join(', ')}`,
    );
  });
  for (const [name, templateId] of [
    ['corporate.docx', template.id],
    ['default.docx', 'default'],
  ]) {
    await step(`Export to Word (${name})`, async () => {
      const path = `/documents/${id}/export/word?template_id=${templateId}`;
      const { bytes, headers } = await send('GET', path);
      await saveFile(name, bytes);
      return stepResult(bytes, `${bytes.length} bytes, ${headers.get('content-disposition')}`);
    });
  }
  for (const [name, flavor] of [
    ['document.md', 'plain'],
    ['document-gfm.md', 'gfm'],
  ]) {
    await step(`Export to Markdown (${flavor})`, async () => {
      const { bytes } = await send('GET', `/documents/${id}/export/markdown?flavor=${flavor}`);
      await saveFile(`${name}`, bytes);
      return stepResult(bytes, `${bytes.length} bytes`);
    });
  }
}

interface StepResult<T> {
  value: T;
  line: string;
}

function stepResult<T>(value: T, line: string): StepResult<T> {
  return { value, line };
}

async function step<T>(name: string, work: () => Promise<StepResult<T>>): Promise<T> {
  const startedAt = performance.now();
  try {
    const { value, line } = await work();
    console.log(`✓ ${name.padEnd(34)} ${line}  (${Math.round(performance.now() - startedAt)} ms)`);
    return value;
  } catch (error) {
    throw new Error(`${name}: ${toMessage(error)}`, { cause: error });
  }
}

function saveFile(name: string, bytes: Uint8Array): Promise<void> {
  return writeFile(resolve(out, name), bytes);
}

function countNodes(nodes: { children: [] }[]): number {
  return nodes.reduce((sum, node) => sum + 1 + countNodes(node.children), 0);
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
