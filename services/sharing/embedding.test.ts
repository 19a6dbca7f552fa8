/** What public links show, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, type TestApp, type TestResponse, testApp } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { EmbeddedDocument } from './contract.ts';
import { sharing } from './service.ts';

let here: TestApp;
let ada: Person;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  here = await testApp({ services, contracts: services.map((one) => one.contract) });
  ada = await register(here);
}, 60_000);
afterAll(() => here?.stop());

const text = (value: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text: value }] }],
});

/** A shared document: its id as documents shows it, and its token. */
async function shared(nodes: unknown[] = [], as = ada) {
  const body = { title: 'Opening the vault', version: '2.1', department: 'Vault', nodes };
  const made = await here.request('POST', '/documents', { as: as.key, body });
  await here.request('POST', `/documents/${made.body.id}/publish`, { as: as.key });
  const { token } = (await here.request('POST', `/documents/${made.body.id}/share-token`, { as: as.key }))
    .body;
  return { id: made.body.id, document: made.body, token };
}

const embed = (token: string, headers: Record<string, string> = {}, slug = ada.slug) =>
  here.request('GET', `/embed/${slug}/${token}`, { headers });

describe('the document', () => {
  test('has exactly the specified fields and no user ids', async () => {
    const tree = [
      {
        node_type: 'section',
        title: 'Before',
        content: text('Look around.'),
        children: [
          { node_type: 'step', title: 'Key', children: [{ node_type: 'sub_step', title: 'Turn it' }] },
        ],
      },
    ];
    const { id, document, token } = await shared(tree);
    const told = await embed(token);
    expect(told.status).toBe(200);
    expect(EmbeddedDocument.parse(told.body)).toEqual(told.body);
    const shown = (node: Record<string, unknown>): unknown => {
      const { id, node_type, title, content, order, children } = node;
      return { id, node_type, title, content, order, children: (children as (typeof node)[]).map(shown) };
    };
    expect(told.body).toEqual({
      id,
      title: 'Opening the vault',
      version: '2.1',
      department: 'Vault',
      status: 'published',
      nodes: document.nodes.map(shown),
    });
    const raw = Buffer.from(told.bytes).toString();
    expect(raw).not.toContain(ada.userId);
    expect(raw).not.toContain(ada.organizationId);
  });

  test('shows content exactly as it was sent', async () => {
    const content = {
      type: 'doc',
      content: [
        { type: 'paragraph', attrs: { 'a.b': 1, a$b: null, wide: 0.1 }, content: [] },
        { type: 'paragraph', content: [{ type: 'text', text: '</script>\u2028 "quoted" \\ 🔑' }] },
      ],
    };
    const { token } = await shared([{ node_type: 'section', title: 'S', content }]);
    const told = await embed(token);
    expect(told.body.nodes[0].content).toEqual(content);
    expect(Buffer.from(told.bytes).toString()).toContain(JSON.stringify(content));
  });

  test('sorts siblings by order, ties by creation', async () => {
    const section = (title: string, order: number) => ({ node_type: 'section', title, order });
    const { token } = await shared([section('c', 2), section('a', 1), section('b', 1)]);
    expect((await embed(token)).body.nodes.map((node: { title: string }) => node.title)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  test('shows a change with the very next request', async () => {
    const { id, token } = await shared();
    const before = await embed(token);
    await here.request('POST', `/documents/${id}/nodes`, {
      as: ada.key,
      body: { node_type: 'section', title: 'New', order: 1 },
    });
    const after = await embed(token);
    expect(after.body.nodes).toMatchObject([{ title: 'New' }]);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });
});

describe('the answer', () => {
  test('is for everyone, for no search engine, and never stale', async () => {
    const { headers } = await embed((await shared()).token);
    const named = ['cache-control', 'referrer-policy', 'x-robots-tag', 'access-control-allow-origin', 'vary'];
    expect(named.map((name) => headers.get(name))).toEqual([
      'no-cache',
      'no-referrer',
      'noindex',
      '*',
      'Accept',
    ]);
    expect(headers.get('content-type')).toBe('application/json');
  });

  test('is a 304 without a body when the client has it already', async () => {
    const { token } = await shared();
    const etag = (await embed(token)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await embed(token, { 'if-none-match': etag });
    expect({ status: again.status, length: again.bytes.length }).toEqual({ status: 304, length: 0 });
    expect(again.headers.get('etag')).toBe(etag);
    expect((await embed(token, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('has the same ETag and bytes after a restart', async () => {
    const { token } = await shared([{ node_type: 'section', title: 'S', content: text('x') }]);
    const before = await embed(token);
    await here.restart();
    const after = await embed(token);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    expect(after.bytes).toEqual(before.bytes);
  });

  test('takes the two formats and refuses others', async () => {
    const { token } = await shared();
    const asked = ['json', 'html', 'xml'].map((format) => embed(`${token}?format=${format}`));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 400]);
  });
});

describe('every 404', () => {
  const withoutId = ({ bytes, body }: TestResponse) =>
    Buffer.from(bytes).toString().replace(body.request_id, '<id>');
  const headersOf = ({ headers }: TestResponse) =>
    [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name));

  test('has the same body but for request_id, and the same headers, whatever the cause', async () => {
    const eve = await register(here);
    const { token } = await shared();
    const deleted = await shared();
    await here.request('DELETE', `/documents/${deleted.id}/share-token`, { as: ada.key });
    const gone = await shared();
    await here.request('POST', `/documents/${gone.id}/archive`, { as: ada.key });
    const causes = await Promise.all([
      embed('x'.repeat(43)),
      embed('nonsense'),
      embed(token, {}, 'no-such-organization'),
      embed(token, {}, eve.slug),
      embed(deleted.token),
      embed(gone.token),
    ]);
    for (const told of causes) expect(told.status).toBe(404);
    expect(new Set(causes.map(withoutId)).size).toBe(1);
    expect(new Set(causes.map((told) => JSON.stringify(headersOf(told)))).size).toBe(1);
    expect(causes[0]).toMatchObject({ body: { code: 'not_found' } });
    expect(causes[0]?.headers.get('access-control-allow-origin')).toBe('*');
  });
});
