/** Tests what one request of each operation costs MongoDB, together with the background work that it causes. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AnyOperation } from '#libs/contract';
import { type TestApp, testApp, type WebhookReceiver, webhookReceiver } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { type PermissionFixture, permissionFixture } from '../permissions/fixture.ts';
import { createPeople, type People } from '../permissions/people.ts';
import { fillPath, type Prepare, samples } from '../permissions/samples.ts';
import { type Counts, countCommands, waitUntilSettled } from './counts.ts';
import { maxCounts } from './table.ts';

const operations = contracts.flatMap((contract) => contract.operations);
const prepareById: Readonly<Record<string, Prepare>> = samples;

let app: TestApp;
let people: People;
let fixture: PermissionFixture;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await webhookReceiver();
  app = await testApp({ services, contracts });
  people = await createPeople(app);
  fixture = permissionFixture(app, people);
});
afterAll(async () => {
  await app?.stop();
  await receiver?.close();
});

test('every operation has a row in the table', () => {
  expect(operations.map(({ id }) => id).sort()).toEqual(Object.keys(maxCounts).sort());
});

test.each(operations.map((operation) => [operation.id, operation] as const))('%s', async (id, operation) => {
  const send = await prepareRequest(operation);
  await waitUntilSettled(app);
  let status = 0;
  const counts = await countCommands(app, async () => {
    status = await send();
  });
  expect(status).toBe(operation.status);
  const [reads = 0, writes = 0, transactions = 0, rows = 0] = maxCounts[id] ?? [];
  const max = { reads, writes, transactions, rows };
  // fewer are fine: the background work of an earlier request may already have read the same
  expect(takeLarger(counts, max)).toEqual(max);
});

test.each([
  ['getDocument', 2],
  ['getEmbeddedDocument', 1],
] as const)('%s of an unchanged document: %d reads', async (id, reads) => {
  const operation = operations.find((one) => one.id === id);
  if (!operation) throw new Error(`There is no operation ${id}`);
  const send = await prepareRequest(operation);
  await send();
  await waitUntilSettled(app);
  expect(await countCommands(app, send)).toEqual({ reads, writes: 0, transactions: 0, rows: 0 });
});

/** The larger one of each count. */
function takeLarger(one: Counts, other: Counts): Counts {
  const larger = (name: keyof Counts) => Math.max(one[name], other[name]);
  return {
    reads: larger('reads'),
    writes: larger('writes'),
    transactions: larger('transactions'),
    rows: larger('rows'),
  };
}

/** Creates what the request needs. Returns the function that sends it and returns the status. */
async function prepareRequest(operation: AnyOperation): Promise<() => Promise<number>> {
  const sample = await prepareById[operation.id]?.(fixture);
  if (!sample) throw new Error(`${operation.id} has no sample request`);
  // without a receiver, the number of attempts would depend on the time
  await app.db.collection('webhook_configs').updateMany({}, { $set: { url: receiver.url } });
  const { admin, owner } = people;
  const caller = sample.ends ? await fixture.newMember() : operation.id.includes('Inbox') ? owner : admin;
  const credential = { actor: 'admin', name: 'access token', ...caller } as const;
  const body = await sample.body?.(credential);
  const [method, path] = [operation.method.toUpperCase(), fillPath(operation, sample)];
  return async () => (await app.request(method, path, { as: caller.token, body })).status;
}
