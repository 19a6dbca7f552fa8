/** Tests of public links as JSON, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, type TestApp, type TestResponse, testApp } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';
import { EmbeddedDocument } from './contract.ts';
import { sharing } from './service.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  app = await testApp({ services, contracts: services.map(({ contract }) => contract) });
  ada = await register(app);
});
afterAll(() => app?.stop());

const text = (value: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text: value }] }],
});

/** Creates, publishes and shares a document; returns its id, the created document and the token. */
async function shareDocument(nodes: unknown[] = [], as = ada) {
  const body = { title: 'Opening the vault', version: '2.1', department: 'Vault', nodes };
  const created = await app.request('POST', '/documents', { as: as.key, body });
  await app.request('POST', `/documents/${created.body.id}/publish`, { as: as.key });
  const { token } = (await app.request('POST', `/documents/${created.body.id}/share-token`, { as: as.key }))
    .body;
  return { id: created.body.id, document: created.body, token };
}

const embed = (token: string, headers: Record<string, string> = {}, slug = ada.slug) =>
  app.request('GET', `/embed/${slug}/${token}`, { headers });

describe('the document of a public link', () => {
  test('has exactly the specified fields and no user ids', async () => {
    const tree = [
      {
        node_type: 'section',
        title: 'Before',
        content: text('Check the area.'),
        children: [
          { node_type: 'step', title: 'Key', children: [{ node_type: 'sub_step', title: 'Turn it' }] },
        ],
      },
    ];
    const { id, document, token } = await shareDocument(tree);
    const response = await embed(token);
    expect(response.status).toBe(200);
    expect(EmbeddedDocument.parse(response.body)).toEqual(response.body);
    const toExpected = (node: Record<string, unknown>): unknown => {
      const { id, node_type, title, content, order, children } = node;
      return {
        id,
        node_type,
        title,
        content,
        order,
        children: (children as (typeof node)[]).map(toExpected),
      };
    };
    expect(response.body).toEqual({
      id,
      title: 'Opening the vault',
      version: '2.1',
      department: 'Vault',
      status: 'published',
      nodes: document.nodes.map(toExpected),
    });
    const raw = Buffer.from(response.bytes).toString();
    expect(raw).not.toContain(ada.userId);
    expect(raw).not.toContain(ada.organizationId);
  });

  test('has content exactly as it was sent', async () => {
    const content = {
      type: 'doc',
      content: [
        { type: 'paragraph', attrs: { 'a.b': 1, a$b: null, wide: 0.1 }, content: [] },
        { type: 'paragraph', content: [{ type: 'text', text: '</script>\u2028 "quoted" \\ 🔑' }] },
      ],
    };
    const { token } = await shareDocument([{ node_type: 'section', title: 'S', content }]);
    const response = await embed(token);
    expect(response.body.nodes[0].content).toEqual(content);
    expect(Buffer.from(response.bytes).toString()).toContain(JSON.stringify(content));
  });

  test('has siblings sorted by order, then by creation', async () => {
    const section = (title: string, order: number) => ({ node_type: 'section', title, order });
    const { token } = await shareDocument([section('c', 2), section('a', 1), section('b', 1)]);
    expect((await embed(token)).body.nodes.map((node: { title: string }) => node.title)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  test('shows a change with the next request', async () => {
    const { id, token } = await shareDocument();
    const before = await embed(token);
    await app.request('POST', `/documents/${id}/nodes`, {
      as: ada.key,
      body: { node_type: 'section', title: 'New', order: 1 },
    });
    const after = await embed(token);
    expect(after.body.nodes).toMatchObject([{ title: 'New' }]);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });
});

describe('the JSON response of a public link', () => {
  test('allows all origins, is not indexed and must be revalidated', async () => {
    const { headers } = await embed((await shareDocument()).token);
    const headerNames = [
      'cache-control',
      'referrer-policy',
      'x-robots-tag',
      'access-control-allow-origin',
      'vary',
    ];
    expect(headerNames.map((name) => headers.get(name))).toEqual([
      'no-cache',
      'no-referrer',
      'noindex',
      '*',
      'Accept',
    ]);
    expect(headers.get('content-type')).toBe('application/json');
  });

  test('is 304 without a body for the current ETag', async () => {
    const { token } = await shareDocument();
    const etag = (await embed(token)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await embed(token, { 'if-none-match': etag });
    expect({ status: again.status, length: again.bytes.length }).toEqual({ status: 304, length: 0 });
    expect(again.headers.get('etag')).toBe(etag);
    expect((await embed(token, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('has the same ETag and bytes after a restart', async () => {
    const { token } = await shareDocument([{ node_type: 'section', title: 'S', content: text('x') }]);
    const before = await embed(token);
    await app.restart();
    const after = await embed(token);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    expect(after.bytes).toEqual(before.bytes);
  });

  test('supports two formats and rejects others with 400', async () => {
    const { token } = await shareDocument();
    const requests = ['json', 'html', 'xml'].map((format) => embed(`${token}?format=${format}`));
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([200, 200, 400]);
  });
});

describe('the 404 of a public link', () => {
  const withoutId = ({ bytes, body }: TestResponse) =>
    Buffer.from(bytes).toString().replace(body.request_id, '<id>');
  const getHeaders = ({ headers }: TestResponse) =>
    [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name));

  test('is the same for every cause except for request_id', async () => {
    const eve = await register(app);
    const { token } = await shareDocument();
    const deleted = await shareDocument();
    await app.request('DELETE', `/documents/${deleted.id}/share-token`, { as: ada.key });
    const archived = await shareDocument();
    await app.request('POST', `/documents/${archived.id}/archive`, { as: ada.key });
    const causes = await Promise.all([
      embed('x'.repeat(43)),
      embed('nonsense'),
      embed('%F0'),
      embed(token, {}, '%zz'),
      embed(token, {}, 'no-such-organization'),
      embed(token, {}, eve.slug),
      embed(deleted.token),
      embed(archived.token),
    ]);
    for (const response of causes) expect(response.status).toBe(404);
    expect(new Set(causes.map(withoutId)).size).toBe(1);
    expect(new Set(causes.map((response) => JSON.stringify(getHeaders(response)))).size).toBe(1);
    expect(causes[0]).toMatchObject({ body: { code: 'not_found' } });
    expect(causes[0]?.headers.get('access-control-allow-origin')).toBe('*');
  });
});
