/** The health that strangers may see: ok or degraded, never why. */
import { expect, test } from '@jest/globals';
import { createPublicHealth } from './health.ts';

const failing = () => Promise.reject(new Error('mongodb://secret-host:27017 does not answer'));
let pings = 0;
const answering = async () => {
  pings += 1;
};

function one(name: string, ping: () => Promise<void>) {
  return { service: { contract: { name } }, store: { ping } };
}

test('everything that answers is ok', async () => {
  const health = createPublicHealth({ up: true }, () => [one('documents', answering)]);
  expect(await health()).toEqual({ status: 'ok', services: [{ name: 'documents', status: 'ok' }] });
});

test('a service whose MongoDB does not answer is degraded, without a reason', async () => {
  const health = createPublicHealth({ up: true }, () => [
    one('documents', answering),
    one('export', failing),
  ]);
  expect(await health()).toEqual({
    status: 'degraded',
    services: [
      { name: 'documents', status: 'ok' },
      { name: 'export', status: 'degraded' },
    ],
  });
});

test('an event bus that is down makes the process degraded, not its services', async () => {
  const health = createPublicHealth({ up: false }, () => [one('documents', answering)]);
  expect(await health()).toMatchObject({ status: 'degraded', services: [{ status: 'ok' }] });
});

test('many requests at once ping MongoDB once', async () => {
  const health = createPublicHealth({ up: true }, () => [one('documents', answering)]);
  pings = 0;
  await Promise.all(Array.from({ length: 100 }, health));
  expect(pings).toBe(1);
});
