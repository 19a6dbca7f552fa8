/** Multipart bodies: text fields and one file. */

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
const codeOf = async (answer: Promise<Response>) => {
  const { status, code } = await parseJson(answer);
  return `${status} ${code}`;
};

test('fields and the file arrive as they were sent', async () => {
  const told = await send(
    form([
      ['name', 'Ä b'],
      ['file', blob(new Uint8Array([0, 255, 13, 10])), 'ä.bin'],
    ]),
  );
  expect(await parseJson(told)).toEqual({
    fields: { name: 'Ä b' },
    file: { name: 'ä.bin', size: 4, text: '00ff0d0a' },
  });
});

test('all mistakes are listed at once: the query, fields, unknown parts and the missing file', async () => {
  const told = await send(
    form([
      ['name', 'x'],
      ['extra', '1'],
      ['other', blob('x'), 'x'],
    ]),
    {},
    '?limit=x',
  );
  expect(told.status).toBe(400);
  const { errors } = await parseJson(told);
  expect(errors.map(({ path }: { path: string }) => path).sort()).toEqual([
    'body/extra',
    'body/file',
    'body/name',
    'body/other',
    'query/limit',
  ]);
});

test('a file that came as text is no file', async () => {
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

test('a file of the largest size is taken, one byte more is 413 and names the limit', async () => {
  const sized = (size: number) =>
    send(
      form([
        ['name', 'xy'],
        ['file', blob(new Uint8Array(size)), 'f'],
      ]),
    );
  expect((await sized(1_000)).status).toBe(201);
  const told = await sized(1_001);
  expect(told.status).toBe(413);
  expect(await parseJson(told)).toMatchObject({ code: 'payload_too_large', limit_bytes: 1_000 });
});

test('a file far over the limit is refused while it is still coming', async () => {
  expect(
    await codeOf(
      send(
        form([
          ['name', 'xy'],
          ['file', blob(new Uint8Array(5_000_000)), 'f'],
        ]),
      ),
    ),
  ).toBe('413 payload_too_large');
});

test('a field that is too long is refused, not cut', async () => {
  expect(
    await codeOf(
      send(
        form([
          ['name', 'x'.repeat(70_000)],
          ['file', blob('x'), 'f'],
        ]),
      ),
    ),
  ).toBe('413 payload_too_large');
});

test('too many parts are refused', async () => {
  const many = Array.from({ length: 80 }, (_, at): [string, string] => [`f${at}`, 'x']);
  expect(await codeOf(send(form(many)))).toBe('400 malformed_multipart');
});

test('of what comes twice the first counts', async () => {
  const told = await send(
    form([
      ['name', 'first'],
      ['name', 'second'],
      ['file', blob('aaaa'), 'one'],
      ['file', blob('b'), 'two'],
    ]),
  );
  expect(await parseJson(told)).toMatchObject({ fields: { name: 'first' }, file: { name: 'one', size: 4 } });
});

test('names like __proto__ are fields like others', async () => {
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
    expect(await codeOf(raw('{}', type))).toBe('400 malformed_multipart');
});

test('a body without a boundary, without parts or without an end is malformed', async () => {
  const part = '--B\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nhalf';
  for (const [body, type] of [
    [part, 'multipart/form-data'],
    [part],
    ['nonsense'],
    [''],
    [`--C\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--C--\r\n`],
  ] as [string, string?][])
    expect(await codeOf(raw(body, type))).toBe('400 malformed_multipart');
});

test('a client that goes away in the midst is no mistake of ours', async () => {
  const before = http.outcomes.length;
  const socket = connect(http.port, '127.0.0.1');
  socket.write(
    'POST /api/v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Length: 900\r\n' +
      'Content-Type: multipart/form-data; boundary=B\r\n\r\n--B\r\nContent-Disposition: form-data; name="name"\r\n\r\nx',
    () => setImmediate(() => socket.destroy()),
  );
  await until('its end', async () => http.outcomes.length > before);
  expect(http.outcomes.at(-1)).toMatchObject({ problem: 'malformed_multipart' });
  expect(http.outcomes.at(-1)).not.toHaveProperty('error');
});

test('the same parts with another boundary are the same request; another file is not', async () => {
  const keyed = (size: number) =>
    send(
      form([
        ['name', 'xy'],
        ['file', blob(new Uint8Array(size)), 'f'],
      ]),
      { 'idempotency-key': 'k' },
    );
  expect((await keyed(5)).headers.get('idempotency-replayed')).toBeNull();
  expect((await keyed(5)).headers.get('idempotency-replayed')).toBe('true');
  expect(await codeOf(keyed(6))).toBe('400 idempotency_key_reused');
});
