/** Tests bodies that are parsed in a worker: the same results as in the process, and no one waits for them. */
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Unavailable } from '#libs/contract';
import { createBodyParser } from '#libs/http';
import { type Person, register, type TestApp, testApp, until } from '#libs/testing';
import { contracts, system } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  const { bodyWorker } = system;
  app = await testApp({ services: [identity, documents], contracts, bodyWorker });
  ada = await register(app);
});
afterAll(() => app?.stop());

/** More than a body that the process parses itself. */
const padding = ' '.repeat(300 * 1024);

/** Sends a text as JSON. */
async function send(method: string, path: string, body: string) {
  const headers = { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' };
  const response = await fetch(`${app.origin}/api/v1${path}`, { method, headers, body });
  // biome-ignore lint/suspicious/noExplicitAny: the tests read fields of every response
  return { status: response.status, body: (await response.json()) as any };
}

const text = (words: string) => ({ type: 'doc', content: [{ type: 'text', text: words }] });
const step = (words: string) => ({ node_type: 'step', title: 'Step', content: text(words) });

test('a large body is stored like a small one', async () => {
  const tree = {
    title: 'Large',
    nodes: [{ node_type: 'section', title: 'Ünïcode 🙂', children: [step('a'), step('b\u0000\\"')] }],
  };
  const small = await send('POST', '/documents', JSON.stringify(tree));
  const large = await send('POST', '/documents', JSON.stringify(tree) + padding);
  expect([small.status, large.status]).toEqual([201, 201]);
  const withoutIds = (document: unknown) =>
    JSON.stringify(document, (name, value) => (/(^|_)(id|at)$/.test(name) ? undefined : value));
  expect(withoutIds(large.body)).toBe(withoutIds(small.body));
  const read = await app.request('GET', `/documents/${large.body.id}`, { as: ada.key });
  expect(read.body).toEqual(large.body);
  expect(read.body.nodes[0].children[1].content).toEqual(text('b\u0000\\"'));
});

test('a tree of megabytes is stored completely', async () => {
  const nodes = Array.from({ length: 300 }, (_, at) => ({
    node_type: 'section',
    title: `Section ${at}`,
    content: text(`${at} `.repeat(2_000)),
  }));
  const { status, body } = await send('POST', '/documents', JSON.stringify({ title: 'Huge', nodes }));
  expect(status).toBe(201);
  expect(body.nodes.map(({ content }: { content: unknown }) => content)).toEqual(
    nodes.map(({ content }) => content),
  );
});

test('the errors of a large body are those of a small one', async () => {
  for (const body of [
    '{"title":1,"unknown":2,"nodes":[{"node_type":"section","title":"","content":{"type":"doc","x":1}}]}',
    '{"title":"x","nodes":[{"node_type":"step","title":"not in a section"}]}',
    '{"title":',
    '[[',
    '',
  ]) {
    const { errors, code, detail } = (await send('POST', '/documents', body)).body;
    expect(code).toMatch(/invalid_request|malformed_json|node_hierarchy/);
    expect((await send('POST', '/documents', body + padding)).body).toMatchObject({
      code: body === '' ? 'malformed_json' : code,
      ...(body !== '' && { detail, ...(errors && { errors }) }),
    });
  }
});

const mistakes = Array.from({ length: 60 }, () => ({ x: 1 }));
const node = { node_type: 'section', title: 'x', content: { type: 'doc', content: mistakes } };

test('after 100 mistakes, one of each further text is found', async () => {
  const nodes = Array.from({ length: 500 }, () => node);
  const { status, body } = await send('POST', '/documents', JSON.stringify({ title: 'x', nodes }));
  expect(status).toBe(400);
  expect(body.errors).toHaveLength(100);
  // 20 of each of the first five texts are listed
  expect(body.detail).toContain('at least 495 more follow');
});

test('others are served while a large body is parsed', async () => {
  const body = JSON.stringify({ title: 'x', nodes: Array.from({ length: 10_000 }, () => node) });
  // Without a worker, the process would answer at most those that arrived before the end of the body. On a busy machine
  // the worker may be faster than the other requests, so the upload is repeated.
  await until('others are served', async () => (await countServed(body)) > 10);
});

/** Uploads an invalid document and returns how many other requests were answered meanwhile, one after the other. */
async function countServed(body: string): Promise<number> {
  const upload = request(`${app.origin}/api/v1/documents`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
  });
  const answered = once(upload, 'response');
  let isAnswered = false;
  void answered.then(() => {
    isAnswered = true;
  });
  await new Promise((resolve) => upload.end(body, () => resolve(undefined)));
  let served = 0;
  while (!isAnswered) {
    await app.request('GET', '/documents/counts', { as: ada.key });
    served += 1;
  }
  const [response] = await answered;
  response.resume();
  expect(response.statusCode).toBe(400);
  return served;
}

test('a body that needs too much memory is 413, and the next one is parsed', async () => {
  const lists = `${'['.repeat(100)}${']'.repeat(100)},`.repeat(49_000);
  const { status, body } = await send('POST', '/documents', `{"nodes":[${lists}1]}`);
  expect([status, body.code]).toEqual([413, 'payload_too_large']);
  expect((await send('POST', '/documents', `{"title":"x"}${padding}`)).status).toBe(201);
});

test('organizations take turns with their large bodies', async () => {
  const parser = createBodyParser(system.bodyWorker);
  const parsed: string[] = [];
  const bytes = Buffer.from(JSON.stringify({ title: 'x' }) + padding);
  const parse = async (organization: string) => {
    const { errors } = await parser.parse('createDocument', z.unknown(), bytes, organization);
    parsed.push(organization);
    return errors.total;
  };
  const all = await Promise.all(['a', 'a', 'a', 'a', 'b'].map(parse));
  expect(all).toEqual([0, 0, 0, 0, 0]);
  expect(parsed).toEqual(['a', 'b', 'a', 'a', 'a']);
  // one is parsed and sixteen wait
  const results = await Promise.allSettled([...Array.from({ length: 18 }, () => 'a'), 'b'].map(parse));
  const rejected = results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []));
  expect(rejected).toEqual([17]);
  expect(results[17]).toMatchObject({ reason: { kind: Unavailable } });
  await parser.close();
});

test('a list with too many mistakes is invalid before its items are compared', async () => {
  const nodes = [...Array.from({ length: 1_000 }, () => ({ node_type: 'section', title: '' })), null, 1];
  const response = await send('POST', '/documents', JSON.stringify({ title: 'x', nodes }));
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});
