/** Runs the main use case against a running instance and prints each step: `npm run demo`. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Api, client } from './api.ts';
import { isSigned, isStandardSigned, type Receiver, startReceiver } from './receiver.ts';
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
  const hooks = await startReceiver();
  try {
    await checkInstance(origin);
    await runMainJob(origin, hooks);
    console.log(`\nAll steps done. The files are in ${out}`);
  } catch (error) {
    console.error(`\n✗ ${toMessage(error)}`);
    process.exitCode = 1;
  } finally {
    hooks.close();
  }
}

/** Rejects unless an instance of this service runs at the address. */
async function checkInstance(origin: string): Promise<void> {
  const hint = 'Start an instance with npm start, or use another address: npm run demo -- --base URL.';
  const response = await fetch(`${origin}/api/v1/openapi.json`).catch((cause: unknown) => {
    throw new Error(`No service is running at ${origin}. ${hint}`, { cause });
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!reference.safeParse(body).success)
    throw new Error(`The program at ${origin} is not this service. ${hint}`);
}

async function runMainJob(origin: string, { url, first }: Receiver): Promise<void> {
  const base = `${origin}/api/v1`;
  await mkdir(out, { recursive: true });
  const anonymous = client(base);

  const session = await step('Register', async () => {
    const unique = randomBytes(4).toString('hex');
    const person = {
      name: 'Robin Demo',
      email: `robin-${unique}@demo.example`,
      password: randomBytes(18).toString('base64url'),
    };
    const { json } = await anonymous('POST', '/auth/register', {
      organization_name: `Harbour Bank ${unique}`,
      ...person,
    });
    return stepResult(
      json,
      `${json.organization.name} (${json.organization.slug}), admin ${json.member.email}`,
    );
  });
  const key = await step('Create an API key', async () => {
    const { json } = await client(base, session.access_token)('POST', '/api-keys', {
      name: 'Demo',
      role: 'admin',
    });
    return stepResult(json.key, `${json.prefix}…`);
  });
  const api = client(base, key);
  const secret = await step('Create a webhook', async () => {
    const { json } = await api('POST', '/webhooks', {
      name: 'Demo receiver',
      url,
      event_types: ['document.published'],
    });
    return stepResult(json.secret, `${url} for ${json.event_types.join(', ')}`);
  });
  const document = await step('Create a document with nodes', async () => {
    const sop: unknown = JSON.parse(await readFile(new URL('incident-response-sop.json', fixtures), 'utf8'));
    const { json } = await api('POST', '/documents', sop);
    return stepResult(json, `“${json.title}”, ${countNodes(json.nodes)} nodes, ${json.status}`);
  });
  await step('Publish the document', async () => {
    const { json } = await api('POST', `/documents/${document.id}/publish`);
    return stepResult(json, `${json.status} at ${json.published_at}`);
  });
  const link = await step('Create a public link', async () => {
    const { json } = await api('POST', `/documents/${document.id}/share-token`);
    const path = `${origin}/embed/${json.org_slug}/${json.token}`;
    return stepResult(path, path);
  });
  await step('Read the public link', async () => {
    const { json, bytes } = await anonymous('GET', link);
    await saveFile('embed.json', bytes);
    return stepResult(json, `${countNodes(json.nodes)} nodes without any credentials`);
  });
  await exportDocument(api, document.id);
  await step('Receive the signed event', async () => {
    const delivery = await first('document.published', 15_000);
    await saveFile('webhook.json', delivery.body);
    if (!isSigned(delivery, secret)) throw new Error('X-Service-Signature is invalid');
    if (!isStandardSigned(delivery, secret, Date.now() / 1000))
      throw new Error('webhook-signature is invalid');
    return stepResult(delivery, `${delivery.headers['webhook-id']}: both signatures are valid`);
  });
  await step('Read the event log', async () => {
    const entry = await waitForDelivered(api);
    return stepResult(entry, `${entry.event_type} ${entry.status} after ${entry.attempts} attempt`);
  });
}

async function exportDocument(api: Api, id: string): Promise<void> {
  const template = await step('Upload a corporate template', async () => {
    const form = new FormData();
    form.set('name', 'Corporate');
    form.set('indent_inches', '0.4');
    form.set(
      'file',
      new Blob([await readFile(new URL('corporate-template.docx', fixtures))]),
      'corporate-template.docx',
    );
    const { json } = await api('POST', '/templates', form);
    return stepResult(
      json,
      `${json.name}, ${json.size_bytes} bytes, placeholders ${json.placeholders.join(', ')}`,
    );
  });
  for (const [name, templateId] of [
    ['corporate.docx', template.id],
    ['default.docx', 'default'],
  ]) {
    await step(`Export to Word (${name})`, async () => {
      const { bytes, headers } = await api('GET', `/documents/${id}/export/word?template_id=${templateId}`);
      await saveFile(name, bytes);
      return stepResult(bytes, `${bytes.length} bytes, ${headers.get('content-disposition')}`);
    });
  }
  await step('Export to Markdown', async () => {
    const { bytes } = await api('GET', `/documents/${id}/export/markdown`);
    await saveFile('document.md', bytes);
    return stepResult(bytes, `${bytes.length} bytes`);
  });
}

/** Waits until the newest entry of the event log is delivered, and returns it. */
async function waitForDelivered(api: Api): Promise<{ event_type: string; status: string; attempts: number }> {
  for (let tries = 0; tries < 50; tries += 1) {
    const [entry] = (await api('GET', '/webhooks/events')).json;
    if (entry?.status === 'delivered') return entry;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The event log does not show the delivery as delivered');
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
