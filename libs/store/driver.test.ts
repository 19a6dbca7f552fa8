/** What a broken connection to MongoDB must not do: keep whoever uses it waiting for ever. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { leftOver, testMongo } from '#libs/testing';
import { makeThing, type StoreStage, someone, storeStage, things } from '../testing/store-stage.ts';
import { type Wire, wireTo } from '../testing/wire.ts';

let mongo: Awaited<ReturnType<typeof testMongo>>;
let wire: Wire;
let stage: StoreStage;
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
  wire = await wireTo(new URL('/', mongo.uri).href);
  subscribe('net.client.socket', remember);
  stage = await storeStage(`${wire.url}?directConnection=true`);
});
afterEach(async () => {
  unsubscribe('net.client.socket', remember);
  await stage?.stop();
  await wire?.close();
  await mongo?.stop();
});

/** The sockets of this process to the wire. */
const ours = () => [...sockets].filter((socket) => String(socket.remotePort) === new URL(wire.url).port);

test('what was read does not pile up until the whole heap is collected', async () => {
  const store = await stage.open();
  const ada = someone();
  await makeThing(store, ada, 'a');
  // four at a time, as no two have the same moment
  const read = () => store.rows(things).find({ name: 'a' }).lean();
  const others = new Set([read(), read(), read()].map((query) => query.exec()));
  const left = await leftOver(2_000, async () => {
    const [first] = others;
    if (first) others.delete(first);
    others.add(read().exec());
    await first;
  });
  await Promise.all(others);
  expect(left).toBeLessThan(2_000_000);
});

test('a store that is closed while it reads page by page leaves no cursor behind', async () => {
  const store = await stage.open();
  const ada = someone();
  for (const name of ['a', 'b', 'c']) await makeThing(store, ada, name);
  const cursor = store.rows(things).find({}).lean().batchSize(1).cursor();
  expect(await cursor.next()).not.toBeNull();
  const open = async () => {
    const { metrics } = await stage.db.admin().serverStatus();
    return Number(metrics.cursor.open.total);
  };
  const before = await open();
  await stage.close();
  expect(before - (await open())).toBe(1);
});

test('a connection that breaks at this very moment fails at once, and what reads is asked again', async () => {
  const store = await stage.open();
  await makeThing(store, someone(), 'a');
  expect(ours().length).toBeGreaterThan(0);
  for (const socket of ours()) socket.destroy();
  expect(await store.rows(things).countDocuments({ name: 'a' })).toBe(1);
});

test('a connection that breaks while much is still to be sent fails what is being sent', async () => {
  const store = await stage.open();
  const ada = someone();
  wire.weather({ bytesPerSecond: 1_000_000 });
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
  wire.weather({});
  for (const socket of draining()) socket.destroy();
  await refused;
});
