/** Tests for multipart bodies: text fields and one file. */

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { multipart, operation } from '#libs/contract';
import { until } from '#libs/testing';
import { type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { handle } from './handle.ts';

const upload = operation({
  id: 'upload',
  method: 'post',
  path: '/files',
  summary: 'Upload',
  access: insider,
  query: z.object({ limit: z.coerce.number().optional() }),
  body: multipart({ fields: z.strictObject({ name: z.string().min(2) }), file: 'file', maxFileBytes: 1_000 }),
  status: 201,
  returns: z.unknown(),
  problems: [],
});

let http: HttpFixture;
beforeAll(async () => {
  http = await httpFixture([
    handle(upload, async ({ body: { fields, file } }) => ({
      fields,
      file: {
        name: file.name,
        size: file.bytes.length,
        text: Buffer.from(file.bytes).toString('hex').slice(0, 8),
      },
    })),
  ]);
});
afterAll(() => http?.listening.close(0));

const form = (parts: [string, string | Blob, string?][]) => {
  const data = new FormData();
  for (const [name, value, fileName] of parts)
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, fileName);
  return data;
};
const blob = (bytes: Uint8Array<ArrayBuffer> | string) => new Blob([bytes]);
const send = (body: string | FormData, headers: Record<string, string> = {}, query = '') =>
  http.ask('POST', `/api/v1/files${query}`, { body, headers });
const raw = (body: string, type = 'multipart/form-data; boundary=B') => send(body, { 'content-type': type });
const getStatusAndCode = async (response: Promise<Response>) => {
  const { status, code } = await parseJson(response);
  return `${status} ${code}`;
};

test('fields and the file arrive unchanged', async () => {
  const response = await send(
    form([
      ['name', 'Ä b'],
      ['file', blob(new Uint8Array([0, 255, 13, 10])), 'ä.bin'],
    ]),
  );
  expect(await parseJson(response)).toEqual({
    fields: { name: 'Ä b' },
    file: { name: 'ä.bin', size: 4, text: '00ff0d0a' },
  });
});

test('all errors of query, fields and files are listed at once', async () => {
  const response = await send(
    form([
      ['name', 'x'],
      ['extra', '1'],
      ['other', blob('x'), 'x'],
    ]),
    {},
    '?limit=x',
  );
  expect(response.status).toBe(400);
  const { errors } = await parseJson(response);
  expect(errors.map(({ path }: { path: string }) => path).sort()).toEqual([
    'body/extra',
    'body/file',
    'body/name',
    'body/other',
    'query/limit',
  ]);
});

test('a text field that is not valid UTF-8 is rejected', async () => {
  const part = (name: string, value: Buffer) =>
    Buffer.concat([Buffer.from(`--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`), value]);
  for (const bytes of [
    [0x41, 0xed, 0xa0, 0x80],
    [0xff, 0x41],
  ]) {
    const body = Buffer.concat([part('name', Buffer.from(bytes)), Buffer.from('\r\n--B--\r\n')]);
    const headers = { 'content-type': 'multipart/form-data; boundary=B' };
    const response = await http.ask('POST', '/api/v1/files', { body: new Uint8Array(body), headers });
    expect((await parseJson(response)).errors).toContainEqual({
      path: 'body/name',
      message: 'Must be valid UTF-8, without U+FFFD',
    });
  }
});

test('a text field with the name of the file is rejected', async () => {
  const { errors } = await parseJson(
    send(
      form([
        ['name', 'xy'],
        ['file', 'text'],
      ]),
    ),
  );
  expect(errors.map(({ path }: { path: string }) => path).sort()).toEqual(['body/file', 'body/file']);
});

test('a file of the maximum size is accepted, one byte more is 413', async () => {
  const sendFileOfSize = (size: number) =>
    send(
      form([
        ['name', 'xy'],
        ['file', blob(new Uint8Array(size)), 'f'],
      ]),
    );
  expect((await sendFileOfSize(1_000)).status).toBe(201);
  const response = await sendFileOfSize(1_001);
  expect(response.status).toBe(413);
  expect(await parseJson(response)).toMatchObject({ code: 'payload_too_large', limit_bytes: 1_000 });
});

test('a file far over the limit is rejected', async () => {
  expect(
    await getStatusAndCode(
      send(
        form([
          ['name', 'xy'],
          ['file', blob(new Uint8Array(5_000_000)), 'f'],
        ]),
      ),
    ),
  ).toBe('413 payload_too_large');
});

test('a field that is too long is rejected, not truncated', async () => {
  expect(
    await getStatusAndCode(
      send(
        form([
          ['name', 'x'.repeat(70_000)],
          ['file', blob('x'), 'f'],
        ]),
      ),
    ),
  ).toBe('413 payload_too_large');
});

test('too many parts are rejected', async () => {
  const many = Array.from({ length: 80 }, (_, at): [string, string] => [`f${at}`, 'x']);
  expect(await getStatusAndCode(send(form(many)))).toBe('400 malformed_multipart');
});

test('the first of two fields with the same name is used', async () => {
  const response = await send(
    form([
      ['name', 'first'],
      ['name', 'second'],
      ['file', blob('aaaa'), 'one'],
    ]),
  );
  expect(await parseJson(response)).toMatchObject({ fields: { name: 'first' } });
});

test('a second file is rejected instead of ignored', async () => {
  const { status, errors } = await parseJson(
    send(
      form([
        ['name', 'xy'],
        ['file', blob('aaaa'), 'one'],
        ['file', blob('b'), 'two'],
      ]),
    ),
  );
  expect(status).toBe(400);
  expect(errors).toEqual([{ path: 'body/file', message: 'Send only one file' }]);
});

test('names like constructor are treated as ordinary fields', async () => {
  const { errors } = await parseJson(
    send(
      form([
        ['name', 'xy'],
        ['constructor', 'x'],
        ['file', blob('x'), 'f'],
      ]),
    ),
  );
  expect(errors).toEqual([{ path: 'body/constructor', message: 'Unknown field' }]);
});

test('another media type is malformed', async () => {
  for (const type of ['application/json', 'multipart/mixed; boundary=B', 'text/plain'])
    expect(await getStatusAndCode(raw('{}', type))).toBe('400 malformed_multipart');
});

test('a long, repeated or misleading boundary is malformed', async () => {
  const [short, long] = ['boundary=B', `boundary=${'a'.repeat(300)}`];
  for (const parameters of [
    long,
    `${long} ${short}`,
    `x${short}; boundary="${'a'.repeat(300)}"; y${short}`,
    `${short}; ${short}`,
    `${short}; ${long}`,
    'boundary=""',
    'boundary="a\\"',
  ])
    expect(await getStatusAndCode(raw('--B--', `multipart/form-data; ${parameters}`))).toBe(
      '400 malformed_multipart',
    );
});

test.each(['boundary=B', 'charset=utf-8; boundary="B"', 'Boundary=B; charset="a; b"'])(
  'the parameters %s are valid',
  async (parameters) => {
    const body = [
      '--B\r\nContent-Disposition: form-data; name="name"\r\n\r\nxy\r\n',
      '--B\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n--B--\r\n',
    ].join('');
    expect((await raw(body, `multipart/form-data; ${parameters}`)).status).toBe(201);
  },
);

test('a body without a boundary, parts or an end is malformed', async () => {
  const part = '--B\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nhalf';
  for (const [body, type] of [
    [part, 'multipart/form-data'],
    [part],
    ['nonsense'],
    [''],
    [`--C\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--C--\r\n`],
  ] as [string, string?][])
    expect(await getStatusAndCode(raw(body, type))).toBe('400 malformed_multipart');
});

test('a client that disconnects during an upload is not an error', async () => {
  const before = http.outcomes.length;
  const socket = connect(http.port, '127.0.0.1');
  socket.write(
    'POST /api/v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Length: 900\r\n' +
      'Content-Type: multipart/form-data; boundary=B\r\n\r\n--B\r\nContent-Disposition: form-data; name="name"\r\n\r\nx',
    () => setImmediate(() => socket.destroy()),
  );
  await until('the outcome', async () => http.outcomes.length > before);
  expect(http.outcomes.at(-1)).toMatchObject({ problem: 'malformed_multipart' });
  expect(http.outcomes.at(-1)).not.toHaveProperty('error');
});

test('the same parts with another boundary are the same request', async () => {
  const sendWithKey = (size: number) =>
    send(
      form([
        ['name', 'xy'],
        ['file', blob(new Uint8Array(size)), 'f'],
      ]),
      { 'idempotency-key': 'k' },
    );
  expect((await sendWithKey(5)).headers.get('idempotency-replayed')).toBeNull();
  expect((await sendWithKey(5)).headers.get('idempotency-replayed')).toBe('true');
  expect(await getStatusAndCode(sendWithKey(6))).toBe('400 idempotency_key_reused');
});
