/** What a broken connection to MongoDB must not do: keep whoever uses it waiting for ever. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { testMongo } from '#libs/testing';
import {
  createActor,
  createThing,
  type StoreFixture,
  storeFixture,
  things,
} from '../testing/store-fixture.ts';
import { type TcpProxy, tcpProxy } from '../testing/tcp-proxy.ts';
import { connect } from './connect.ts';
import { SwapRemoveSet } from './swap-remove-set.ts';

type Row = { _id: string };

let mongo: Awaited<ReturnType<typeof testMongo>>;
let proxy: TcpProxy;
let fixture: StoreFixture;
let sockets: Set<Socket>;
const remember = (message: unknown) => {
  // the channel says a socket (Node.js, diagnostics_channel, net.client.socket)
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
const ours = () => [...sockets].filter((socket) => String(socket.remotePort) === new URL(proxy.url).port);

test('sessions and cursors are where nothing keeps them once they have ended', async () => {
  const { connection, db } = await connect(new Secret(fixture.uri), { appName: 'test', maxPoolSize: 2 });
  // no types: the inside of the driver
  const { s } = connection.getClient() as unknown as { s: Record<string, unknown> };
  const kept = [s.activeSessions, s.activeCursors] as SwapRemoveSet<object>[];
  const sizes = () => kept.map(({ size }) => size);
  try {
    for (const set of kept) expect(set).toBeInstanceOf(SwapRemoveSet);
    await db.collection<Row>('things').insertMany([{ _id: 'a' }, { _id: 'b' }]);
    const cursor = db.collection<Row>('things').find({}, { batchSize: 1 });
    await cursor.next();
    expect(sizes()).toEqual([1, 1]);
    await cursor.close();
    expect(sizes()).toEqual([0, 0]);
  } finally {
    await connection.close();
  }
});

test('a store that is closed while it reads page by page leaves no cursor behind', async () => {
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

test('a connection that breaks at this very moment fails at once, and what reads is asked again', async () => {
  const store = await fixture.open();
  await createThing(store, createActor(), 'a');
  expect(ours().length).toBeGreaterThan(0);
  for (const socket of ours()) socket.destroy();
  expect(await store.rows(things).countDocuments({ name: 'a' })).toBe(1);
});

test('a connection that breaks while much is still to be sent fails what is being sent', async () => {
  const store = await fixture.open();
  const ada = createActor();
  proxy.setToxics({ bytesPerSecond: 1_000_000 });
  const large = {
    _id: newId(),
    organization_id: ada.organization_id,
    name: 'b',
    secret: 'x'.repeat(12_000_000),
  };
  const sent = store.rows(things).insertMany([large], { lean: true });
  const refused = expect(sent).rejects.toThrow();
  const draining = () => ours().filter((socket) => socket.writableNeedDrain);
  while (draining().length === 0) await new Promise((resolve) => setImmediate(resolve));
  proxy.setToxics({});
  for (const socket of draining()) socket.destroy();
  await refused;
});
