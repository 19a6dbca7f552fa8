/** Tests for the public health: ok or degraded, never a reason. */
import { expect, test } from '@jest/globals';
import { createPublicHealth } from './health.ts';

const fail = () => Promise.reject(new Error('mongodb://secret-host:27017 does not answer'));
let pings = 0;
const respond = async () => {
  pings += 1;
};

function checkedService(name: string, ping: () => Promise<void>) {
  return { service: { contract: { name } }, store: { ping } };
}

test('the status is ok if MongoDB and the bus respond', async () => {
  const health = createPublicHealth({ up: true }, () => [checkedService('documents', respond)]);
  expect(await health()).toEqual({ status: 'ok', services: [{ name: 'documents', status: 'ok' }] });
});

test('a service without MongoDB is degraded, without a reason', async () => {
  const health = createPublicHealth({ up: true }, () => [
    checkedService('documents', respond),
    checkedService('export', fail),
  ]);
  expect(await health()).toEqual({
    status: 'degraded',
    services: [
      { name: 'documents', status: 'ok' },
      { name: 'export', status: 'degraded' },
    ],
  });
});

test('a bus that is down degrades the process, not its services', async () => {
  const health = createPublicHealth({ up: false }, () => [checkedService('documents', respond)]);
  expect(await health()).toMatchObject({ status: 'degraded', services: [{ status: 'ok' }] });
});

test('concurrent requests ping MongoDB once', async () => {
  const health = createPublicHealth({ up: true }, () => [checkedService('documents', respond)]);
  pings = 0;
  await Promise.all(Array.from({ length: 100 }, health));
  expect(pings).toBe(1);
});
