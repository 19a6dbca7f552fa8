/** Tests how many bytes of bodies one client may hold, and that others are served while it holds them. */
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, multipart, newId, nothing, operation } from '#libs/contract';
import { until } from '#libs/testing';
import { ada, type HttpFixture, httpFixture, insider } from '../testing/http-fixture.ts';
import { type BodyBudget, type BodyClient, createBodyBudget, toBodyClients } from './body-budget.ts';
import { createBodyParser } from './body-parser.ts';
import { handle } from './handle.ts';

const mib = 2 ** 20;
const organization = (id: string): BodyClient[] => [{ id, factor: 1 }];
const isFull = /You are sending too much data/;

describe('one client', () => {
  let budget: BodyBudget;
  beforeEach(() => {
    // 16 MiB for requests without credentials, 16 MiB for small bodies, 64 MiB for large ones
    budget = createBodyBudget(96 * mib);
  });

  test('holds three quarters of a part with credentials', () => {
    for (const [part, bytes] of [['small', 12 * mib] as const, ['large', 48 * mib] as const]) {
      budget(part, organization('a')).take(bytes);
      expect(() => budget(part, organization('a')).take(1)).toThrow(isFull);
      budget(part, organization('b')).take(bytes / 3 - 1);
    }
  });

  test('can hold its bytes again after it has returned them', () => {
    for (let time = 0; time < 3; time += 1) {
      const lease = budget('small', organization('a'));
      lease.take(11 * mib);
      lease.take(mib);
      expect(() => lease.take(1)).toThrow(isFull);
      lease.release();
      expect(() => lease.take(1)).toThrow();
    }
  });

  test('holds one of the largest bodies, also in a small budget', () => {
    const small = createBodyBudget(48 * mib);
    small('large', organization('a')).take(32 * mib);
    expect(() => small('large', organization('a')).take(1)).toThrow(isFull);
  });

  test('without credentials holds an eighth', () => {
    const take = (address: string, bytes: number) =>
      budget('anonymous', toBodyClients(undefined, address)).take(bytes);
    take('203.0.113.9', 2 * mib);
    expect(() => take('::ffff:203.0.113.9', 1)).toThrow(isFull);
    take('203.0.113.10', 2 * mib);
  });

  test('with many IPv6 addresses holds an eighth to a half, by network', () => {
    const take = (address: string) => {
      const lease = budget('anonymous', toBodyClients(undefined, address));
      try {
        lease.take(2 * mib);
      } catch (error) {
        lease.release();
        throw error;
      }
    };
    take('2001:db8:0:1::1');
    // the same /64, the same /56, the same /48
    expect(() => take('2001:db8:0:1::2')).toThrow(isFull);
    take('2001:db8:0:2::1');
    expect(() => take('2001:db8:0:3::1')).toThrow(isFull);
    take('2001:db8:0:100::1');
    take('2001:db8:0:200::1');
    expect(() => take('2001:db8:0:300::1')).toThrow(isFull);
    take('2001:db8:1::1');
  });

  test('is the organization of the caller', () => {
    expect(toBodyClients(ada, '203.0.113.9')).toEqual([{ id: ada.organization_id, factor: 1 }]);
  });
});

const common = { summary: '', method: 'post', status: 204, returns: nothing, problems: [] } as const;
const body = z.strictObject({ name: z.string() });
const createThing = operation({ ...common, id: 'createThing', path: '/things', access: insider, body });
const signIn = operation({ ...common, id: 'signIn', path: '/sessions', access: anyone, body });
const uploadThing = operation({
  ...common,
  id: 'uploadThing',
  path: '/uploads',
  access: insider,
  body: multipart({ fields: z.object({}), file: 'file', maxFileBytes: 8 * mib }),
});

describe('while a client holds its share with bodies that do not end', () => {
  let http: HttpFixture;
  let sockets: Socket[];
  const bob = { ...ada, organization_id: newId() };

  beforeEach(async () => {
    sockets = [];
    http = await httpFixture(
      [createThing, signIn, uploadThing].map((each) => handle(each, async () => undefined)),
      {
        trustedProxies: ['127.0.0.0/8'],
        authenticate: async (token) => ({ good: ada, bob })[token],
        // 8 MiB for requests without credentials, 8 MiB for small bodies
        bodies: { budget: createBodyBudget(48 * mib), parser: createBodyParser() },
      },
    );
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await http.listening.close(0);
  });

  /** Starts requests until the client holds its share. Resolves with the first response, which says so. */
  async function fillShare(path: string, headers: string[], length: number, count: number): Promise<string> {
    let answer = '';
    const head = [`POST /api/v1${path} HTTP/1.1`, 'host: x', ...headers, `content-length: ${length}`];
    for (let sent = 0; sent < count; sent += 1) {
      const socket = connect(http.port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        answer += data;
      });
      socket.write(`${head.join('\r\n')}\r\n\r\n${' '.repeat(length - 1)}`);
    }
    await until('the share is full', async () => answer !== '');
    return answer;
  }

  test('text fields of a multipart body count', async () => {
    const part = `--B\r\ncontent-disposition: form-data; name="field"\r\n\r\n${'x'.repeat(60_000)}\r\n`;
    const body = part.repeat(40);
    const head = 'POST /api/v1/uploads HTTP/1.1\r\nhost: x\r\nauthorization: Bearer good\r\n';
    const type = 'content-type: multipart/form-data; boundary=B\r\ncontent-length: 4000000\r\n\r\n';
    let answer = '';
    for (let sent = 0; sent < 16; sent += 1) {
      const socket = connect(http.port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        answer += data;
      });
      socket.write(head + type + body);
    }
    await until('the share is full', async () => answer !== '');
    expect(answer).toMatch(/^HTTP\/1.1 503 /);
    expect(answer).toMatch(isFull);
  });

  const json = { 'content-type': 'application/json' };
  const send = (path: string, as: string | null, address: string) =>
    http.ask('POST', path, {
      as,
      headers: { ...json, 'x-forwarded-for': address },
      body: JSON.stringify({ name: 'x'.repeat(10_000) }),
    });

  test('other organizations are served', async () => {
    const headers = ['authorization: Bearer good', 'content-type: application/json'];
    const answer = await fillShare('/things', headers, mib, 10);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/retry-after: 1\r\n/i);
    expect((await send('/api/v1/things', 'bob', '203.0.113.9')).status).toBe(204);
  });

  test('other addresses are served without credentials', async () => {
    const headers = ['x-forwarded-for: 203.0.113.9', 'content-type: application/json'];
    expect(await fillShare('/sessions', headers, 16 * 1024, 600)).toMatch(/^HTTP\/1\.1 503 /);
    expect((await send('/api/v1/sessions', null, '203.0.113.10')).status).toBe(204);
  });
});

test('a file of unknown length counts as a large body', async () => {
  const http = await httpFixture([handle(uploadThing, async () => undefined)], {
    bodies: { budget: createBodyBudget(48 * mib), parser: createBodyParser() },
  });
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
  const parts = [Buffer.from(head), Buffer.alloc(7 * mib), Buffer.from('\r\n--b--\r\n')];
  const response = await fetch(`${http.origin}/api/v1/uploads`, {
    method: 'POST',
    headers: { authorization: 'Bearer good', 'content-type': 'multipart/form-data; boundary=b' },
    body: ReadableStream.from(parts),
    duplex: 'half',
  });
  expect(response.status).toBe(204);
  await http.listening.close(0);
});
