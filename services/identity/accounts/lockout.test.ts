/** Nobody can lock the owner out of an account by wrong passwords, over HTTP with a real MongoDB. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';

let app: TestApp;
/** Moves the services' clock to the next full hour. All windows begin there, and none ends during a test. */
const clockOffsetMs = 3_600_000 - (Date.now() % 3_600_000);
const failures = 3;
const accountLimit = failures * 10;

beforeAll(async () => {
  app = await testApp({
    services: [identity, documents],
    contracts,
    now: () => new Date(Date.now() + clockOffsetMs),
    environment: { TRUSTED_PROXIES: '127.0.0.0/8', LOGIN_FAILURES_PER_15_MINUTES: String(failures) },
  });
});
afterAll(() => app?.stop());

const password = 'correct horse battery staple';
let networks = 0;
/** An address in an IPv4 network of its own. */
const newAddress = () => {
  networks += 1;
  return `198.18.${networks >> 8}.${networks & 255}`;
};
const send = (path: string, address: string, body: object) =>
  app.request('POST', path, { body, headers: { 'x-forwarded-for': address } });
const login = async (address: string, email: string, secret = password) =>
  (await send('/auth/login', address, { email, password: secret })).status;

/** Registers an account at this address. Returns its email. */
async function register(address: string): Promise<string> {
  const email = `${newId()}@example.com`;
  const body = { organization_name: 'O', name: 'N', email, password };
  expect((await send('/auth/register', address, body)).status).toBe(201);
  return email;
}

/** Sends wrong passwords from this address. Returns the statuses of the responses. */
async function guess(address: string, email: string, count = failures): Promise<number[]> {
  const statuses: number[] = [];
  for (let tries = 0; tries < count; tries += 1) statuses.push(await login(address, email, 'wrong'));
  return statuses;
}

/** The counter of failed logins of an account from other networks. */
const toCounter = (email: string) => {
  const hash = createHash('sha256')
    .update(JSON.stringify([email]))
    .digest('base64url');
  return { _id: { $regex: `^failure:${hash}` } };
};
const counters = () => app.db.collection<{ _id: string; count: number }>('rate_limits');
const readFailures = async (email: string) => (await counters().findOne(toCounter(email)))?.count;

/** Sets how many failed logins of an account from other networks were counted in this window. */
async function setFailures(email: string, count: number): Promise<void> {
  await login(newAddress(), email, 'wrong');
  const { matchedCount } = await counters().updateOne(toCounter(email), { $set: { count } });
  expect(matchedCount).toBe(1);
}

test('wrong passwords elsewhere never lock an account at a usual address', async () => {
  const home = newAddress();
  const email = await register(home);
  await setFailures(email, 1_000_000);
  expect(await login(newAddress(), email)).toBe(429);
  expect(await login(home, email)).toBe(200);
});

test('above the limit of the account, a login from a new address succeeds', async () => {
  const email = await register(newAddress());
  for (let at = 0; at < accountLimit / failures; at += 1)
    expect(await guess(newAddress(), email)).toEqual([401, 401, 401]);
  const elsewhere = newAddress();
  expect(await login(elsewhere, email)).toBe(200);
  // from now on it is a usual address
  await setFailures(email, 1_000_000);
  expect(await login(elsewhere, email)).toBe(200);
});

test('a refused attempt above the limit of the account does not count', async () => {
  const email = await register(newAddress());
  await setFailures(email, 1_000_000);
  const elsewhere = newAddress();
  expect(await guess(elsewhere, email, failures + 1)).toEqual([429, 429, 429, 429]);
  expect(await readFailures(email)).toBe(1_000_000);
  await setFailures(email, 0);
  expect(await login(elsewhere, email)).toBe(200);
});

test('a usual network has a limit of its own', async () => {
  const home = newAddress();
  const email = await register(home);
  expect(await guess(home, email, failures + 1)).toEqual([401, 401, 401, 429]);
  expect(await login(newAddress(), email)).toBe(200);
});

test.each([
  ['/56', 2, (at: number) => `2001:db8:1:1${at}::1`],
  ['/48', 4, (at: number) => `2001:db8:2:${at}00::1`],
])('the failed logins of an IPv6 %s are limited together', async (_size, factor, toAddress) => {
  const email = await register(newAddress());
  for (let at = 1; at <= factor; at += 1) expect(await guess(toAddress(at), email)).toEqual([401, 401, 401]);
  expect(await login(toAddress(factor + 1), email)).toBe(429);
  expect(await login(newAddress(), email)).toBe(200);
});

test('the usual networks are stored without addresses, the newest ten', async () => {
  const email = await register(newAddress());
  const addresses = Array.from({ length: 11 }, newAddress);
  for (const address of addresses) expect(await login(address, email)).toBe(200);
  const user = await app.db.collection('users').findOne({ email });
  expect(user?.usual_networks).toHaveLength(10);
  for (const address of addresses) expect(JSON.stringify(user)).not.toContain(address);
});
