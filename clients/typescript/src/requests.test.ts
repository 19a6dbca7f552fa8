/** Tests how requests are built from operations. */
import { describe, expect, test } from '@jest/globals';
import { operationTable } from './generated/operations.ts';
import { buildRequest, toBase } from './requests.ts';

const base = 'https://sop.example.com';

describe('the URL of the service', () => {
  test.each([
    ['https://sop.example.com', 'https://sop.example.com'],
    ['https://sop.example.com/', 'https://sop.example.com'],
    ['https://sop.example.com/api/v1', 'https://sop.example.com'],
    ['https://example.com/sop/api/v1/', 'https://example.com/sop'],
    ['http://127.0.0.1:8080?x#y', 'http://127.0.0.1:8080'],
  ])('%s is accepted', (url, expected) => {
    expect(toBase(url)).toBe(expected);
  });

  test.each([
    '',
    'sop.example.com',
    'ftp://sop.example.com',
    'https://ada:secret@sop.example.com',
    'https://:secret@sop.example.com',
  ])('%j is rejected', (url) => {
    expect(() => toBase(url)).toThrow('is not the URL of a service');
    expect(() => toBase(undefined as unknown as string)).toThrow('`url` is missing');
  });

  test.each([
    ['https://ada:secret@sop.example.com', '"https://sop.example.com" is not'],
    ['https://ada:se/cr@et@sop.example.com', '"https://sop.example.com" is not'],
    ['ada:secret@sop.example.com', '"sop.example.com" is not'],
  ])('the error of %s does not show the password', (url, message) => {
    expect(() => toBase(url)).toThrow(message);
  });
});

describe('requests', () => {
  test('parameters are put into the path and the query, and encoded', () => {
    const input = { doc_id: 'a/b', template_id: 'ä &', versioned: true };
    const { url } = buildRequest(base, operationTable.exportWord, input, {});
    expect(url).toBe(`${base}/api/v1/documents/a%2Fb/export/word?template_id=%C3%A4+%26&versioned=true`);
  });

  test('a list is repeated in the query, and undefined is left out', () => {
    const input = { status: ['draft', 'archived'], q: undefined, updated_since: new Date(0) };
    const { url } = buildRequest(base, operationTable.listDocuments, input, {});
    expect(new URL(url).search).toBe(
      '?status=draft&status=archived&updated_since=1970-01-01T00%3A00%3A00.000Z',
    );
  });

  test.each([
    [undefined, 'doc_id is missing.'],
    ['', 'doc_id is missing.'],
    ['.', 'doc_id must not be ".".'],
    ['..', 'doc_id must not be "..".'],
    ['a\ud800', 'doc_id has half a surrogate pair, which a URL cannot contain.'],
  ])('the id %j is rejected, because it has no path of its own', (doc_id, message) => {
    const build = () => buildRequest(base, operationTable.deleteDocument, { doc_id }, {});
    expect(build).toThrow(new TypeError(message));
  });

  test('each POST has a new idempotency key unless the caller chooses one', () => {
    const create = (idempotencyKey?: string) =>
      buildRequest(base, operationTable.createDocument, { body: {} }, { idempotencyKey }).headers.get(
        'idempotency-key',
      );
    const [first, second] = [create(), create()];
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).not.toBe(first);
    expect(create('mine')).toBe('mine');
  });

  test.each(['', 'a\nb', 'ä'])('the value %j, which a header cannot have, is rejected', (idempotencyKey) => {
    const build = () => buildRequest(base, operationTable.createDocument, { body: {} }, { idempotencyKey });
    expect(build).toThrow('The value of the header idempotency-key is empty or has characters that');
  });

  test.each(['', ' ', '\n'])('the key %j is rejected, because it is empty', (key) => {
    const build = () => buildRequest(base, operationTable.getMe, {}, { key });
    expect(build).toThrow('The key is empty');
  });

  test('a body is sent as JSON, and no body has no media type', () => {
    const withBody = buildRequest(base, operationTable.createDocument, { body: { title: 'ä' } }, {});
    expect([withBody.body, withBody.headers.get('content-type')]).toEqual([
      '{"title":"ä"}',
      'application/json',
    ]);
    const without = buildRequest(base, operationTable.createShareToken, { doc_id: 'x' }, {});
    expect([without.body, without.headers.get('content-type')]).toEqual([null, null]);
  });

  test('bytes become a file of a form, and numbers become text', async () => {
    const input = { body: { name: 'Corporate', file: new Uint8Array([80, 75]), indent_inches: 0.7 } };
    const { body } = buildRequest(base, operationTable.createTemplate, input, {});
    const form = body as FormData;
    expect([form.get('name'), form.get('indent_inches')]).toEqual(['Corporate', '0.7']);
    expect([...new Uint8Array(await (form.get('file') as File).arrayBuffer())]).toEqual([80, 75]);
  });
});

describe('repeatable requests', () => {
  const isRepeatable = (id: keyof typeof operationTable, ifMatch?: string) =>
    buildRequest(base, operationTable[id], { doc_id: 'x', node_id: 'y' }, { ifMatch }).isRepeatable;

  test('reads, posts with a key, and PUT and DELETE can be repeated', () => {
    expect(isRepeatable('getDocument')).toBe(true);
    expect(isRepeatable('publishDocument', '"7"')).toBe(true);
    expect([isRepeatable('replaceTree'), isRepeatable('deleteNode')]).toEqual([true, true]);
  });

  test('a PATCH, a public POST and a write with an ETag cannot be repeated', () => {
    expect([isRepeatable('updateDocument'), isRepeatable('logIn')]).toEqual([false, false]);
    expect([isRepeatable('replaceTree', '"7"'), isRepeatable('deleteNode', '"7"')]).toEqual([false, false]);
  });
});
