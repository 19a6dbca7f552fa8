/** Tests that a command whose connection breaks fails or is retried, instead of waiting forever. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { testMongo, until } from '#libs/testing';
import {
  createActor,
  createThing,
  type StoreFixture,
  storeFixture,
  things,
} from '../testing/store-fixture.ts';
import { type TcpProxy, tcpProxy } from '../testing/tcp-proxy.ts';
import { connect } from './connect.ts';
import { isUnavailable } from './error-codes.ts';

type Row = { _id: string };

let mongo: Awaited<ReturnType<typeof testMongo>>;
let proxy: TcpProxy;
let fixture: StoreFixture;
let sockets: Set<Socket>;
const remember = (message: unknown) => {
  // the message has the socket (Node.js, diagnostics_channel, net.client.socket)
  const { socket } = message as { socket: Socket };
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
};

beforeEach(async () => {
  sockets = new Set();
  mongo = await testMongo();
  proxy = await tcpProxy(new URL('/', mongo.uri).href);
  subscribe('net.client.socket', remember);
  fixture = await storeFixture(`${proxy.url}?directConnection=true`);
});
afterEach(async () => {
  unsubscribe('net.client.socket', remember);
  await fixture?.stop();
  await proxy?.close();
  await mongo?.stop();
});

/** The sockets of this process to the proxy. */
const getSockets = () =>
  [...sockets].filter((socket) => String(socket.remotePort) === new URL(proxy.url).port);

test('a connection that breaks during a large write is an outage', async () => {
  const { connection, db } = await connect(new Secret(fixture.uri), { appName: 'test', maxPoolSize: 2 });
  try {
    const rows = db.collection<Row & { text: string }>('things');
    await rows.findOne();
    proxy.setToxics({ bytesPerSecond: 1_000 });
    const inserting = rows
      .insertOne({ _id: 'large', text: 'x'.repeat(12 * 1024 * 1024) })
      .catch((error) => error);
    await until('a full socket', async () => getSockets().some(({ writableNeedDrain }) => writableNeedDrain));
    proxy.setToxics({});
    proxy.reset();
    const result = await inserting;
    // the driver may also repeat the write over another connection
    expect('insertedId' in result || isUnavailable(result)).toBe(true);
  } finally {
    await connection.close();
  }
});

test('closing a store closes its open cursors', async () => {
  const store = await fixture.open();
  const ada = createActor();
  for (const name of ['a', 'b', 'c']) await createThing(store, ada, name);
  const cursor = store.rows(things).find({}).lean().batchSize(1).cursor();
  expect(await cursor.next()).not.toBeNull();
  const open = () =>
    fixture.db.client
      .db('admin')
      .aggregate([
        { $currentOp: { idleCursors: true } },
        { $match: { type: 'idleCursor', ns: `${fixture.db.databaseName}.things` } },
      ])
      .toArray();
  expect(await open()).toHaveLength(1);
  await fixture.close();
  expect(await open()).toEqual([]);
});

test('a read is retried at once if its connection breaks', async () => {
  const store = await fixture.open();
  await createThing(store, createActor(), 'a');
  expect(getSockets().length).toBeGreaterThan(0);
  for (const socket of getSockets()) socket.destroy();
  expect(await store.rows(things).countDocuments({ name: 'a' })).toBe(1);
});

/** Waits until a command drains, and ends its socket, with an error or without. */
async function breakDrainingSockets(error?: Error): Promise<void> {
  const draining = () => getSockets().filter((socket) => socket.writableNeedDrain);
  while (draining().length === 0) await new Promise((resolve) => setImmediate(resolve));
  proxy.setToxics({});
  for (const socket of draining()) socket.destroy(error);
}

const createLarge = (organization_id: string) => ({
  _id: newId(),
  organization_id,
  name: 'b',
  secret: 'x'.repeat(12_000_000),
});

test('a write whose connection breaks is repeated or an outage', async () => {
  const store = await fixture.open();
  proxy.setToxics({ bytesPerSecond: 1_000_000 });
  const inserting = store
    .rows(things)
    .insertMany([createLarge(createActor().organization_id)], { lean: true })
    .then(
      () => 'inserted',
      (error: unknown) => error,
    );
  await breakDrainingSockets();
  const result = await inserting;
  expect(result === 'inserted' || isUnavailable(result)).toBe(true);
});

test('a transaction is repeated if the socket of a command fails', async () => {
  const store = await fixture.open();
  const ada = createActor();
  const large = createLarge(ada.organization_id);
  proxy.setToxics({ bytesPerSecond: 1_000_000 });
  const inserting = store.transact(ada, async ({ session }) => {
    await store.rows(things).insertMany([large], { session, lean: true });
  });
  await breakDrainingSockets(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  await inserting;
  expect(await store.rows(things).countDocuments({ _id: large._id })).toBe(1);
});

test('a query that cannot be serialized is no outage', async () => {
  const store = await fixture.open();
  const circular: Record<string, unknown> = {};
  circular.itself = circular;
  const error: unknown = await store
    .rows(things)
    .collection.findOne(circular)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(isUnavailable(error)).toBe(false);
});

test.each(['ECONNREFUSED', 'ETIMEOUT', 'ESERVFAIL'])(
  'a failed lookup of a mongodb+srv address is an outage: %s',
  (code) => {
    // the driver passes on the error of node:dns
    expect(isUnavailable(Object.assign(new Error(`querySrv ${code}`), { code, syscall: 'querySrv' }))).toBe(
      true,
    );
  },
);
