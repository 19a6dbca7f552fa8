/** Tests of what one request of each operation costs MongoDB, together with the background work that it causes. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AnyOperation, newId } from '#libs/contract';
import {
  type HttpClient,
  register,
  type TestApp,
  type TestRabbit,
  testApp,
  testRabbit,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { type PermissionFixture, permissionFixture } from '../permissions/fixture.ts';
import { createPeople, type People } from '../permissions/people.ts';
import { fillPath, isOfOwner, type Prepare, samples } from '../permissions/samples.ts';
import { type CountedApp, type Counts, countCommands, waitUntilSettled } from './counts.ts';
import { maxCounts } from './table.ts';

const operations = contracts.flatMap((contract) => contract.operations);
const prepareById: Readonly<Record<string, Prepare>> = samples;

/**
 * Declares the tests, with this number of replicas of all services. Several replicas are connected by RabbitMQ and get
 * the requests in turn.
 */
export function testCommands(replicas: number): void {
  let app: TestApp;
  let counted: CountedApp;
  let rabbit: TestRabbit | undefined;
  /** The clients of all replicas. */
  let clients: readonly HttpClient[];
  let prepared = 0;
  let people: People;
  let fixture: PermissionFixture;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await webhookReceiver();
    if (replicas > 1) rabbit = await testRabbit();
    app = await testApp({ services, contracts, ...(rabbit && { environment: toBusSettings(rabbit) }) });
    people = await createPeople(app);
    fixture = permissionFixture(app, people);
    const others = await Promise.all(Array.from({ length: replicas - 1 }, () => app.replica()));
    clients = [app, ...others];
    counted = { ...app, managements: [app.management, ...others.map(({ management }) => management)] };
    // every service reads the keys once in each replica
    const pages = ['/documents', `/documents/${newId()}/share-token`, '/templates', '/webhooks'];
    for (const client of clients) {
      await register(client);
      for (const page of pages) await client.request('GET', page, { as: people.admin.token });
    }
  });
  afterAll(async () => {
    await app?.stop();
    await receiver?.close();
    await rabbit?.stop();
  });

  test('every operation has a row in the table', () => {
    expect(operations.map(({ id }) => id).sort()).toEqual(Object.keys(maxCounts).sort());
  });

  test.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s',
    async (id, operation) => {
      const send = await prepareRequest(operation);
      await waitUntilSettled(counted);
      let status = 0;
      const { counts, commands } = await countCommands(counted, async () => {
        status = await send();
      });
      expect(status).toBe(operation.status);
      const [reads = 0, writes = 0, transactions = 0, rows = 0] = maxCounts[id] ?? [];
      const max = { reads, writes, transactions, rows };
      // fewer are fine: the background work of an earlier request may already have read the same
      const larger = takeLarger(counts, max);
      // prints the commands of a failure
      expect([larger, ...(isDeepStrictEqual(larger, max) ? [] : commands)]).toEqual([max]);
    },
  );

  test.each([
    ['getDocument', 2],
    ['getEmbeddedDocument', 1],
  ] as const)('%s of an unchanged document: %d reads', async (id, reads) => {
    const operation = operations.find((one) => one.id === id);
    if (!operation) throw new Error(`There is no operation ${id}`);
    const send = await prepareRequest(operation);
    await send();
    await waitUntilSettled(counted);
    const { counts } = await countCommands(counted, send);
    expect(counts).toEqual({ reads, writes: 0, transactions: 0, rows: 0 });
  });

  /** Creates what the request needs. Returns the function that sends it and returns the status. */
  async function prepareRequest(operation: AnyOperation): Promise<() => Promise<number>> {
    const sample = await prepareById[operation.id]?.(fixture);
    if (!sample) throw new Error(`${operation.id} has no sample request`);
    // without a receiver, the number of attempts would depend on the time
    await app.db.collection('webhook_configs').updateMany({}, { $set: { url: receiver.url } });
    const { admin, owner } = people;
    const caller = sample.ends ? await fixture.newMember() : isOfOwner(operation.id) ? owner : admin;
    const credential = { actor: 'admin', name: 'access token', ...caller } as const;
    const body = await sample.body?.(credential);
    const [method, path] = [operation.method.toUpperCase(), fillPath(operation, sample)];
    const client = clients[prepared++ % clients.length] ?? app;
    return async () => (await client.request(method, path, { as: caller.token, body })).status;
  }
}

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

function toBusSettings({ url }: TestRabbit): Record<string, string> {
  return { AMQP_URL: url, AMQP_PREFIX: `test-${randomBytes(4).toString('hex')}.` };
}
