/** Tests that requests fail with 503 while MongoDB is down, and that the store recovers. */
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, newId, nothing, operation, Secret } from '#libs/contract';
import { handle } from '#libs/http';
import { createKeyring, isCommitUnknown, isUnavailable, openStore, type Store } from '#libs/store';
import { until } from '#libs/testing';
import { type Mongod, startMongod } from '../../tools/mongod/mongod.ts';
import { type HttpFixture, httpFixture } from '../testing/http-fixture.ts';
import {
  createActor,
  createThing,
  recordingBus,
  type StoreFixture,
  storeFixture,
  thingProducers,
  things,
} from '../testing/store-fixture.ts';

let mongod: Mongod;
let link: Awaited<ReturnType<typeof createLink>>;
let fixture: StoreFixture;
let store: Store;
let http: HttpFixture;
const { bus, taken } = recordingBus();

beforeAll(async () => {
  mongod = await startMongod({ say: () => undefined });
  link = await createLink(mongod.port);
  fixture = await storeFixture(`mongodb://127.0.0.1:${link.port}/?directConnection=true`);
  store = await fixture.open({ bus });
  store.relay();
  const shape = z.object({ count: z.number() });
  const countThings = operation({
    id: 'countThings',
    method: 'get',
    path: '/things',
    summary: '',
    access: anyone,
    status: 200,
    returns: shape,
    problems: [],
  });
  const addThing = operation({
    id: 'addThing',
    method: 'post',
    path: '/things',
    summary: '',
    access: anyone,
    status: 201,
    returns: z.string(),
    problems: [],
  });
  const addLargeThings = operation({
    ...addThing,
    id: 'addLargeThings',
    path: '/large-things',
    returns: nothing,
  });
  http = await httpFixture([
    handle(addLargeThings, () => insertLargeThings(store)),
    handle(countThings, async () => ({ count: await store.rows(things).countDocuments({}) })),
    handle(addThing, () => createThing(store, createActor(), 'by http')),
  ]);
});
afterAll(async () => {
  await http?.listening.close(0);
  await fixture?.stop({ gone: true });
  await link?.cut();
  await mongod?.stop();
});

test('requests fail with 503 while MongoDB is down, and work when it is back', async () => {
  expect((await http.ask('GET', '/api/v1/things')).status).toBe(200);
  await link.cut();
  // the default of the driver is 30 s
  expect(store.rows(things).db.getClient().options.serverSelectionTimeoutMS).toBe(2_000);
  const requests = [http.ask('GET', '/api/v1/things'), http.ask('POST', '/api/v1/things')];
  const responses = await Promise.all(requests);
  for (const response of responses) {
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await response.json()).toMatchObject({ code: 'unavailable' });
  }
  for (const { error } of http.outcomes.slice(-2)) expect(isUnavailable(error)).toBe(true);
  await link.restore();
  const back = async () => (await http.ask('POST', '/api/v1/things')).status === 201;
  await until('MongoDB is back', back);
  expect((await http.ask('GET', '/api/v1/things')).status).toBe(200);
  await until('the event is published', async () => taken.length > 0);
});

test('a transaction that does not fit into the cache of MongoDB is 503', async () => {
  const before = await store.rows(things).countDocuments();
  const response = await http.ask('POST', '/api/v1/large-things');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
  expect(await response.json()).toMatchObject({
    detail: expect.stringContaining('too large for the database'),
  });
  expect(await store.rows(things).countDocuments()).toBe(before);
});

test('a transaction that loses its connection commits once or not at all', async () => {
  const ada = createActor();
  let runs = 0;
  const created = createThing(store, ada, 'interrupted', async () => {
    runs += 1;
    if (runs > 1) return;
    await link.cut();
    await link.restore();
  });
  const committed = await created.then(
    () => 1,
    (error: unknown) => {
      expect(isUnavailable(error)).toBe(true);
      return 0;
    },
  );
  const count = () => store.rows(things).countDocuments({ name: 'interrupted' });
  expect(await until('MongoDB is back', () => count().catch(() => undefined))).toBe(committed);
});

test('a commit whose answer is lost is 503 outcome_unknown', async () => {
  const count = () => store.rows(things).countDocuments({ name: 'by http' });
  const before = await count();
  link.cutAfterCommit();
  const response = await http.ask('POST', '/api/v1/things');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await response.json()).toMatchObject({ code: 'outcome_unknown' });
  expect(isCommitUnknown(http.outcomes.at(-1)?.error)).toBe(true);
  await link.restore();
  expect(await until('MongoDB is back', () => count().catch(() => undefined))).toBe(before + 1);
});

test('a ping of a MongoDB that does not respond rejects at its timeout', async () => {
  link.freeze();
  // the driver's own limits are longer
  await expect(store.ping()).rejects.toThrow('MongoDB did not respond within 2000 ms');
  await link.cut();
  await link.restore();
  await until('MongoDB is back', () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  );
});

test('requests get 503 within six seconds if MongoDB freezes', async () => {
  const { options } = store.rows(things).db.getClient();
  const { heartbeatFrequencyMS, connectTimeoutMS, serverSelectionTimeoutMS } = options;
  expect(heartbeatFrequencyMS + connectTimeoutMS + serverSelectionTimeoutMS).toBeLessThan(6_000);
  link.freeze();
  const frozenAt = performance.now();
  const requests = [http.ask('GET', '/api/v1/things'), http.ask('POST', '/api/v1/things')];
  await Promise.race(requests);
  const seconds = ((performance.now() - frozenAt) / 1_000).toFixed(1);
  // a time that depends on the machine is shown, not asserted
  process.stderr.write(`The first 503 came ${seconds} s after MongoDB froze.\n`);
  for (const response of await Promise.all(requests))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  await link.cut();
  await link.restore();
  const back = async () => (await http.ask('POST', '/api/v1/things')).status === 201;
  await until('MongoDB is back', back);
});

test('opening a store without MongoDB rejects as unavailable', async () => {
  const refused = await createLink(1);
  await refused.cut();
  const opening = openStore({
    uri: new Secret(`mongodb://ada:hush@127.0.0.1:${refused.port}/x`),
    contract: thingProducers,
    collections: [things],
    topology: new Map(),
    bus,
    alone: true,
    keyring: createKeyring(new Secret(randomBytes(32).toString('base64'))),
    now: () => new Date(),
    trace: () => undefined,
    onError: () => undefined,
  });
  const error = await opening.catch((thrown: Error) => thrown);
  expect(isUnavailable(error)).toBe(true);
  expect(String(error)).not.toContain('hush');
});

test('a change after a clean shutdown of MongoDB rejects as unavailable', async () => {
  await mongod.stop();
  const error = await createThing(store, createActor(), 'too late').catch((thrown: unknown) => thrown);
  expect(isUnavailable(error)).toBe(true);
});

/** Inserts 384 MB in one transaction. MongoDB keeps it in its cache, which has 256 MB here, until the commit. */
function insertLargeThings(to: Store): Promise<undefined> {
  const { organization_id, ...actor } = createActor();
  return to.transact({ organization_id, ...actor }, async ({ session }) => {
    for (let count = 0; count < 32; count += 1) {
      const row = { _id: newId(), organization_id, name: String(count), secret: 'x'.repeat(12 * 2 ** 20) };
      await to.rows(things).insertMany([row], { session });
    }
    return undefined;
  });
}

/** A TCP link to a port that can be cut, restored or frozen. */
async function createLink(port: number) {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let cutsAfterCommit = false;
  const server: Server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    near.on('data', (chunk) => {
      if (isFrozen) return;
      far.write(chunk);
      if (!cutsAfterCommit || !chunk.includes('commitTransaction')) return;
      isFrozen = true;
      server.close();
      // MongoDB has the command by then
      setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, 500);
    });
    far.on('data', (chunk) => isFrozen || near.write(chunk));
  });
  const listen = (at: number) => new Promise<void>((done) => server.listen(at, '127.0.0.1', done));
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return {
    port: address.port,
    freeze() {
      isFrozen = true;
    },
    async cut() {
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    /** Passes on the next commit, but not its answer, and cuts the link. */
    cutAfterCommit() {
      cutsAfterCommit = true;
    },
    async restore() {
      isFrozen = cutsAfterCommit = false;
      await listen(address.port);
    },
  };
}
