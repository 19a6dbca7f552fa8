/** Tests the MongoDB grants: each service's user can access only its own data and the views that it reads. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { type RunningServices, start } from '#libs/service';
import { toGrants } from '#libs/store';
import { type TestRabbit, testRabbit, untilReady } from '#libs/testing';
import { apiPrefix, contracts } from '../services/contracts.ts';
import { identity } from '../services/identity/service.ts';
import { services } from '../services/services.ts';
import { type ServiceUsers, serviceUsers } from './service-users.ts';

type Db = mongoose.mongo.Db;

let rabbit: TestRabbit;
let users: ServiceUsers;
let administrator: mongoose.mongo.MongoClient;
const started: RunningServices[] = [];
const clients = new Map<string, mongoose.mongo.MongoClient>();

/** Starts a service with its own MongoDB user. */
const startService = async (service: (typeof services)[number]) => {
  const { name } = service.contract;
  const environment = { ...settings, MONGODB_URI: users.getUri(name), AMQP_URL: rabbit.url };
  started.push(await start({ services: [service], contracts, apiPrefix, environment }));
};

const settings = {
  AMQP_PREFIX: `test-${randomBytes(4).toString('hex')}.`,
  ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
  HOST: '127.0.0.1',
  PORT: '0',
  MANAGEMENT_PORT: '0',
  LOG_LEVEL: 'silent',
};

beforeAll(async () => {
  rabbit = await testRabbit();
  users = await serviceUsers();
  administrator = await mongoose.mongo.MongoClient.connect(users.administrator);
  await administrator.db().collection('users').createIndex({ email: 1 }, { unique: true });
  await Promise.all(services.map(startService));
  for (const { name } of contracts)
    clients.set(name, await mongoose.mongo.MongoClient.connect(users.getUri(name)));
});

afterAll(async () => {
  for (const one of started) await one.stop();
  for (const client of clients.values()) await client.close();
  await administrator?.close();
  await users?.stop();
  await rabbit?.stop();
});

/** Collections, published views and readable views of each service. */
const ownership = contracts.map((contract) => {
  const { appends = [] } = contract;
  const own = toGrants(contract).filter(({ actions }) => actions.includes('createCollection'));
  const published = contract.views.map(({ name }) => name);
  const isWritable = (name: string) => !published.includes(name) && !appends.includes(name);
  return {
    service: contract.name,
    collections: own.map(({ collection }) => collection).filter(isWritable),
    appends,
    views: published,
    reads: [...published, ...contract.reads.map(({ name }) => name)],
  };
});

test('each service stores only collections that its contract owns', () => {
  for (const { contract, collections } of services)
    expect([...contract.owns, ...(contract.appends ?? [])]).toEqual(
      expect.arrayContaining(collections.map(({ name }) => name)),
    );
});

test('a service starts with an obsolete index that it may not drop', async () => {
  const indexes = await administrator.db().collection('users').indexes();
  expect(indexes.map(({ name }) => name)).toContain('email_1');
});

describe.each(ownership)('the user of $service', ({ service, collections, views, reads }) => {
  const db = (): Db => {
    const client = clients.get(service);
    if (!client) throw new Error(`${service} has not started`);
    return client.db();
  };
  const others = ownership.filter((other) => other.service !== service);
  const foreign = others.flatMap((other) => [...other.collections, ...other.appends]);

  test('has all grants that the service needs to become ready', async () => {
    expect(started).toHaveLength(services.length);
    for (const { managementPort } of started) await untilReady(`http://127.0.0.1:${managementPort}`);
  });

  test('reads and writes the collections of its service', async () => {
    for (const name of collections) {
      await db().collection(name).findOne({});
      await db()
        .collection(name)
        .updateOne({ _id: new mongoose.mongo.ObjectId() }, { $set: { name: '' } });
      await db().collection(name).deleteOne({ _id: new mongoose.mongo.ObjectId() });
    }
  });

  test('cannot write to collections of other services', async () => {
    const names = [...foreign, ...others.flatMap((other) => other.views), 'anything'];
    for (const name of names) {
      const rows = db().collection(name);
      const writes = {
        insert: () => rows.insertOne({ name: 'foreign' }),
        update: () => rows.updateOne({}, { $set: { role: 'admin' } }),
        remove: () => rows.deleteMany({}),
        index: () => rows.createIndex({ name: 1 }),
        drop: () => rows.drop(),
        create: () => db().createCollection(name),
        rename: () => rows.rename(`${name}_2`),
      };
      expect([name, ...(await findDenied(writes))]).toEqual([name, ...Object.keys(writes)]);
    }
  });

  test('cannot read collections of other services directly', async () => {
    for (const name of foreign) {
      const rows = db().collection(name);
      const joined = { $lookup: { from: name, pipeline: [], as: 'rows' } };
      const own = collections[0] ?? '';
      const commands = {
        find: () => rows.findOne({}),
        count: () => rows.countDocuments({}),
        join: () => db().collection(own).aggregate([joined]).toArray(),
        watch: () => rows.watch().tryNext(),
      };
      expect(await findDenied(commands)).toEqual(Object.keys(commands));
    }
  });

  test('reads only the views that its contract names', async () => {
    for (const name of reads) await db().collection(name).findOne({});
    const unread = others.flatMap((other) => other.views).filter((name) => !reads.includes(name));
    const commands = Object.fromEntries(
      unread.map((name) => [name, () => db().collection(name).findOne({})]),
    );
    expect(await findDenied(commands)).toEqual(unread);
  });

  test('cannot escalate through views, roles, users or other databases', async () => {
    const [own = ''] = views;
    const [other = ''] = foreign;
    const [role = ''] = contracts
      .map(({ name }) => `${name}-service`)
      .filter((name) => !name.startsWith(service));
    const commands = {
      ...(own && {
        view: () => db().command({ collMod: own, viewOn: other, pipeline: [] }),
        join: () =>
          db().command({
            collMod: own,
            viewOn: collections[0],
            pipeline: [{ $lookup: { from: other, pipeline: [], as: 'x' } }],
          }),
      }),
      user: () => db().command({ createUser: 'x', pwd: 'x', roles: [role] }),
      role: () => db().command({ grantRolesToUser: service, roles: [role] }),
      drop: () => db().dropDatabase(),
      elsewhere: () => db().admin().listDatabases({ nameOnly: true, authorizedDatabases: false }),
      admin: () => clients.get(service)?.db('admin').collection('system.users').findOne({}),
      operations: () => db().admin().command({ currentOp: 1, $all: true }),
    };
    expect(await findDenied(commands)).toEqual(Object.keys(commands));
  });
});

test('a service updates a view that an older version created', async () => {
  const db = administrator.db();
  const pipeline = async () => {
    const [view] = await db.listCollections({ name: 'organization_profiles' }, { nameOnly: false }).toArray();
    return view?.options?.pipeline;
  };
  const now = await pipeline();
  await db.command({ collMod: 'organization_profiles', viewOn: 'organizations', pipeline: [] });
  await startService(identity);
  expect(await pipeline()).toEqual(now);
});

test('a service names mongo-users if an append-only index is missing', async () => {
  const log = administrator.db().collection('audit_log');
  await log.dropIndex('organization_id_1_seq_-1');
  await expect(startService(identity)).rejects.toThrow(/organization_id_1_seq_-1 of audit_log.*mongo-users/);
  expect(await mongoUsers(['--uri', users.administrator], {})).toMatchObject({ code: 0 });
  await startService(identity);
  expect((await log.indexes()).map(({ name }) => name)).toContain('organization_id_1_seq_-1');
});

test('mongo-users creates users and repairs changed roles', async () => {
  const uri = new URL(users.administrator);
  uri.pathname = '/made_by_command';
  const first = await mongoUsers(['--uri', uri.href], { DOCUMENTS_PASSWORD: 'given-by-the-environment' });
  expect(first.text).toMatch(/^identity +created, password [\w-]{32}$/m);
  expect(first.text).toMatch(/^documents +created, password from the environment$/m);
  expect(first.text).not.toContain('given-by-the-environment');
  const password = /^sharing +created, password ([\w-]{32})$/m.exec(first.text)?.[1] ?? '';

  const db = administrator.db('made_by_command');
  await db.command({ grantRolesToRole: 'sharing-service', roles: ['readWrite'] });
  // the URI lists several members, as for a replica set; `authSource` defaults to `admin`
  uri.searchParams.delete('authSource');
  const severalHosts = uri.href.replace(uri.host, `${uri.host},localhost:${uri.port}`);
  const again = await mongoUsers(['--uri', severalHosts], {});
  expect(again.code).toBe(0);
  expect(again.text.match(/up to date, password unchanged$/gm)).toHaveLength(contracts.length);

  const own = new URL(`mongodb://sharing:${password}@${uri.host}/made_by_command?replicaSet=pds`);
  const client = await mongoose.mongo.MongoClient.connect(own.href);
  try {
    await client.db().collection('share_tokens').findOne({});
    expect(await findDenied({ find: () => client.db().collection('users').findOne({}) })).toEqual(['find']);
  } finally {
    await client.close();
  }
});

test('mongo-users rejects an empty password before it changes a user', async () => {
  const uri = new URL(users.administrator);
  uri.pathname = '/made_without_passwords';
  const { code, text } = await mongoUsers(['--uri', uri.href], { SHARING_PASSWORD: '' });
  expect([code, text]).toEqual([1, expect.stringContaining('Empty passwords: SHARING_PASSWORD')]);
  expect(text).not.toContain('created');
});

test('mongo-users --print prints equal commands without passwords', async () => {
  const { code, text } = await mongoUsers(['--print', 'made_by_hand'], {});
  expect(code).toBe(0);
  expect(text.match(/"pwd":passwordPrompt\(\)/g)).toHaveLength(contracts.length);
  const db = administrator.db('made_by_hand');
  for (const [, command] of text.matchAll(/^db\.runCommand\((.*)\);$/gm))
    await db.command(JSON.parse(command?.replace('passwordPrompt()', '"x"') ?? ''));
  const privileges = async (name: string) =>
    (await administrator.db(name).command({ rolesInfo: 'export-service', showPrivileges: true })).roles[0]
      .privileges.length;
  expect(await privileges('made_by_hand')).toBe(await privileges('process_documents'));
});

test('mongo-users explains a missing argument', async () => {
  expect(await mongoUsers([], {})).toMatchObject({ code: 1 });
  const unnamed = await mongoUsers(['--uri', 'mongodb://127.0.0.1:9/'], {});
  expect(unnamed.text).toContain('must name the database');
});

/** The names of the commands that MongoDB rejects as not authorized (code 13). Other failures are not included. */
async function findDenied(commands: Record<string, () => unknown>): Promise<string[]> {
  const codes = await Promise.all(
    Object.values(commands).map(async (command) => {
      try {
        await command();
        return 0;
      } catch (error) {
        return error instanceof mongoose.mongo.MongoServerError ? error.code : error;
      }
    }),
  );
  return Object.keys(commands).filter((_, at) => codes[at] === 13);
}

async function mongoUsers(args: string[], environment: Record<string, string>) {
  const script = new URL('../tools/admin/main.ts', import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, 'mongo-users', ...args],
    {
      env: { PATH: process.env.PATH, ...environment },
    },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  const [code] = await once(child, 'close');
  return { code, text };
}
