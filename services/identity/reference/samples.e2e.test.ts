/** Tests that the samples of the reference page send the documented requests, for each operation. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readDocumented } from '../../../tests/examples/documented.ts';
import { installSchemathesis } from '../../../tools/schemathesis/install.ts';

/** A request as it arrived, or as the reference documents it. */
interface Request {
  method: string;
  path: string;
  query: string[][];
  hasKey: boolean;
  body: unknown;
}

/** A sample program. */
interface Sample {
  name: string;
  text: string;
}

const key = 'pds_key';
const run = promisify(execFile);
let server: Server;
let folder: string;
let received: Request[] = [];
// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document is read without types
let document: any;
let origin: string;
let toSamples: (input: object) => Sample[];
let operations: { id: string; method: string; path: string; samples: Sample[] }[];

beforeAll(async () => {
  const openapi = new URL('../../../docs/contracts/openapi.json', import.meta.url);
  document = JSON.parse(await readFile(openapi, 'utf8'));
  server = createServer(async (request, response) => {
    received.push(await readRequest(request));
    response.setHeader('Content-Type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ({ toSamples } = await import(new URL('./page/samples.js', import.meta.url).href));
  const { schemas } = document.components;
  operations = Object.entries<Record<string, { operationId: string }>>(document.paths).flatMap(
    ([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        ...{ id: operation.operationId, method, path },
        samples: toSamples({ origin, method, path, operation, schemas }),
      })),
  );
  folder = await mkdtemp(join(tmpdir(), 'pds-samples-'));
  await writeFile(join(folder, 'template.docx'), 'a template');
});
afterAll(async () => {
  server?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Writes the samples of a language into files, and a program that runs them in order. */
const languages = {
  curl: (texts: string[]) => ({
    files: { 'main.sh': ['set -e', ...texts].join('\n') },
    command: ['bash', 'main.sh'],
  }),
  TypeScript: (texts: string[]) => ({
    files: {
      ...Object.fromEntries(texts.map((text, index) => [`${index}.ts`, text])),
      'main.ts': texts.map((_, index) => `await import('./${index}.ts');`).join('\n'),
      'package.json': '{ "type": "module" }',
    },
    command: [process.execPath, 'main.ts'],
  }),
  Python: (texts: string[]) => ({
    files: {
      ...Object.fromEntries(texts.map((text, index) => [`${index}.py`, text])),
      'main.py': texts.map((_, index) => `exec(open("${index}.py").read())`).join('\n'),
    },
    command: ['python3', 'main.py'],
  }),
};

const names = Object.keys(languages) as (keyof typeof languages)[];

test.each(names)('the samples in %s send the documented requests', async (language) => {
  await runSamples(
    language,
    operations.map(({ samples }) => samples),
  );
  expect(received).toEqual(operations.map(toDocumented));
});

test.each(names)('a sample in %s keeps quotes, backslashes, null and booleans', async (language) => {
  const example = {
    text: `it's "true" \\ $KEY \`\${null}\`\nfalse`,
    yes: true,
    no: false,
    none: null,
    some: [0, -1.5],
  };
  const operation = { requestBody: { content: { 'application/json': { example } } }, responses: {} };
  await runSamples(language, [toSamples({ origin, method: 'post', path: '/quotes', operation })]);
  expect(received).toMatchObject([{ method: 'POST', path: '/quotes', body: example }]);
});

async function runSamples(language: keyof typeof languages, samples: Sample[][]): Promise<void> {
  const texts = samples.map((all) => all.find(({ name }) => name === language)?.text ?? '');
  const { files, command } = languages[language](texts);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  // it contains the package requests
  const { environment } = await installSchemathesis((line) => void process.stderr.write(`${line}\n`));
  received = [];
  const [program = '', ...args] = command;
  await run(program, args, { cwd: folder, env: { ...process.env, ...environment, KEY: key } });
}

test('the part for one path contains all that it refers to', async () => {
  const { selectPath } = await import(new URL('./page/one-operation.js', import.meta.url).href);
  for (const path of Object.keys(document.paths)) {
    const part = selectPath(document, path, document.paths[path]);
    expect([path, Object.keys(part.paths)]).toEqual([path, [path]]);
    const references = JSON.stringify(part).matchAll(/"\$ref":"#\/([^"]+)"/g);
    for (const [, place = ''] of references) {
      const find = (whole: unknown) =>
        // biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document is read without types
        place.split('/').reduce((value: any, name) => value?.[name], whole);
      expect([path, place, find(part)]).toEqual([path, place, find(document)]);
      expect(find(part)).toBeDefined();
    }
  }
});

function toDocumented({ id, method, path }: (typeof operations)[number]): Request {
  const { params = {}, query = {}, body } = readDocumented(document).getRequest(id);
  const { security, requestBody } = document.paths[path][method];
  const isUpload = requestBody?.content['multipart/form-data'] !== undefined;
  return {
    method: method.toUpperCase(),
    path: Object.entries(params).reduce(
      (text, [name, value]) => text.replace(`{${name}}`, String(value)),
      path,
    ),
    query: Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)])),
    hasKey: security === undefined,
    body: isUpload ? toForm({ ...(body as object), file: 'a template' }) : body,
  };
}

/** The fields of a form arrive as texts. */
function toForm(fields: object): unknown {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

async function readRequest(request: IncomingMessage): Promise<Request> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://host');
  return {
    method: request.method ?? '',
    path: decodeURIComponent(pathname),
    query: [...searchParams],
    hasKey: request.headers.authorization === `Bearer ${key}`,
    body: await readBody(request.headers['content-type'], Buffer.concat(chunks)),
  };
}

async function readBody(type: string | undefined, bytes: Buffer): Promise<unknown> {
  if (type === undefined) return undefined;
  if (type === 'application/json') return JSON.parse(bytes.toString());
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  const fields = [...form].map(async ([name, value]) => [
    name,
    typeof value === 'string' ? value : await value.text(),
  ]);
  return Object.fromEntries(await Promise.all(fields));
}
