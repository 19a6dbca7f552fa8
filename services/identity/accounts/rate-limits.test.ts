/** Rate limits per address of signing in, over HTTP with a real MongoDB. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type TestApp, type TestResponse, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { getWindow, secondsUntil, toNetwork } from '../rules/rate-limit.ts';

let app: TestApp;
/** The services' clock stands still at the next full hour. All windows begin there, and none ends. */
const startedAt = Date.now();
const now = () => new Date(startedAt + 3_600_000 - (startedAt % 3_600_000));
const environment = {
  TRUSTED_PROXIES: '127.0.0.0/8',
  REGISTRATIONS_PER_HOUR: '3',
  LOGINS_PER_MINUTE: '30',
  LOGIN_FAILURES_PER_15_MINUTES: '3',
};

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts, environment, now });
});
afterAll(() => app?.stop());

const password = 'correct horse battery staple';
const from = (address: string) => ({ 'x-forwarded-for': address });
const newNetwork = () => `2001:db8:${newId().slice(-4)}:${newId().slice(-4)}`;
const newAddress = () => `${newNetwork()}::1`;
const registerAt = (address: string, email = `${newId()}@example.com`) =>
  app.request('POST', '/auth/register', {
    body: { organization_name: 'O', name: 'N', email, password },
    headers: from(address),
  });
const loginAt = (address: string, email: string, secret: string) =>
  app.request('POST', '/auth/login', { body: { email, password: secret }, headers: from(address) });
const statuses = (responses: TestResponse[]) => responses.map(({ status }) => status).sort();

test('registrations are limited per address, with Retry-After', async () => {
  const address = newAddress();
  const responses = await Promise.all(Array.from({ length: 6 }, () => registerAt(address)));
  expect(statuses(responses)).toEqual([201, 201, 201, 429, 429, 429]);
  const rejected = responses.find(({ status }) => status === 429);
  expect(rejected?.body.code).toBe('too_many_requests');
  const wait = rejected?.headers.get('retry-after');
  expect(Number(wait)).toBeGreaterThan(0);
  expect(rejected?.headers.get('ratelimit-policy')).toBe('"registrations";q=3;w=3600');
  expect(rejected?.headers.get('ratelimit')).toBe(`"registrations";r=0;t=${wait}`);
  expect((await registerAt(newAddress())).status).toBe(201);
});

test('failed logins lock an account for one network only', async () => {
  const email = `${newId()}@example.com`;
  await registerAt(newAddress(), email);
  const guesser = newAddress();
  for (let tries = 0; tries < 3; tries += 1)
    expect((await loginAt(guesser, email, 'wrong')).status).toBe(401);
  expect((await loginAt(guesser, email, password)).status).toBe(429);
  expect((await loginAt(newAddress(), email, password)).status).toBe(200);
  // another address in the same /64 network counts as the same address
  const network = guesser.slice(0, -3);
  expect((await loginAt(`${network}:1:2:3:4`, email, password)).status).toBe(429);
  const unknown = `${newId()}@example.com`;
  for (let tries = 0; tries < 3; tries += 1)
    expect((await loginAt(guesser, unknown, 'wrong')).status).toBe(401);
  expect((await loginAt(guesser, unknown, 'wrong')).status).toBe(429);
});

test('parallel guesses cannot bypass the limit on any endpoint', async () => {
  const [email, address] = [`${newId()}@example.com`, newAddress()];
  const { access_token } = (await registerAt(address, email)).body;
  const host = (await registerAt(newAddress())).body;
  const invitation = { as: host.access_token, body: { email } };
  const { token } = (await app.request('POST', '/members/invitations', invitation)).body;
  const ways = [
    (at: string) => loginAt(at, email, 'wrong'),
    (at: string) => {
      const body = { current_password: 'wrong', new_password: password };
      return app.request('POST', '/me/password', { as: access_token, body, headers: from(at) });
    },
    (at: string) => {
      const body = { token, name: 'N', password: 'wrong' };
      return app.request('POST', '/members/invitations/accept', { body, headers: from(at) });
    },
  ];
  for (const way of ways) {
    const at = newAddress();
    const responses = await Promise.all(Array.from({ length: 8 }, () => way(at)));
    expect(responses.filter(({ status }) => status !== 429)).toHaveLength(3);
  }
  expect((await loginAt(address, email, password)).status).toBe(200);
});

test('accepting invitations is limited per address', async () => {
  const address = newAddress();
  const accept = () =>
    app.request('POST', '/members/invitations/accept', {
      body: { token: 'nonsense', name: 'N', password },
      headers: from(address),
    });
  const responses = await Promise.all(Array.from({ length: 80 }, accept));
  const codes = new Set(responses.map(({ body }) => body.code));
  expect(codes).toEqual(new Set(['invitation_invalid', 'too_many_requests']));
});

test.each(['/auth/login', '/auth/register', '/auth/reset-password', '/members/invitations/accept'])(
  'an address above its limit gets 429 before its body to %s is read',
  async (path) => {
    const address = newAddress();
    const fail = () => app.request('POST', path, { body: {}, headers: from(address) });
    const responses = await Promise.all(Array.from({ length: 31 }, fail));
    expect(statuses(responses)).toEqual([...Array(30).fill(400), 429]);
    const socket = connect(Number(new URL(app.origin).port), '127.0.0.1');
    const head = [`POST /api/v1${path} HTTP/1.1`, 'host: x', `x-forwarded-for: ${address}`];
    socket.write([...head, 'content-type: application/json', 'content-length: 100', '', '{'].join('\r\n'));
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 429 .*\r\nretry-after: \d+\r\n/is);
  },
);

test('rate limit counters contain no plain email or address', async () => {
  const address = newAddress();
  const email = `${newId()}@example.com`;
  await loginAt(address, email, 'wrong');
  const rows = JSON.stringify(await app.db.collection('rate_limits').find({}).toArray());
  expect(rows.length).toBeGreaterThan(10);
  expect(rows).not.toContain(email);
  expect(rows).not.toContain(address);
});

test('windows, waiting times and networks are computed', () => {
  const at = new Date('2026-11-21T09:30:59.999Z');
  expect(getWindow(at, 60_000).endsAt.toISOString()).toBe('2026-11-21T09:31:00.000Z');
  expect(getWindow(new Date(at.getTime() + 1), 60_000).number).toBe(getWindow(at, 60_000).number + 1);
  expect(secondsUntil(new Date('2026-11-21T09:31:00.000Z'), at)).toBe(1);
  expect(toNetwork('192.0.2.7')).toBe('192.0.2.7');
  expect(toNetwork('::ffff:192.0.2.7')).toBe('192.0.2.7');
  expect(toNetwork('2001:db8:1::7')).toBe(toNetwork('2001:db8:1:0:ffff::1'));
  expect(toNetwork('2001:db8:1:1::7')).not.toBe(toNetwork('2001:db8:1::7'));
  expect(toNetwork('unknown')).toBe('unknown');
  expect(secondsUntil(at, new Date(at.getTime() + 5_000))).toBe(1);
});
