/** Initiates a MongoDB replica set of one member and creates its administrator. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { type Command, WrongUsage } from './command.ts';

const usage = `Initiates the replica set of a new mongod, with this mongod as its only member. With ADMIN_PASSWORD it then creates
the user admin, which MongoDB allows on its own machine while it has no users. It changes nothing that exists already.

  npm run admin -- replica-set --member 127.0.0.1:27017      the address at which clients reach the mongod

  --uri mongodb://…     where this command reaches it, if not at that address
  --name rs0            the name of the replica set, as in --replSet of mongod`;

/** How long the mongod may take to start and to become primary, ms. */
const startMs = 60_000;

export const command: Command = {
  usage,
  async run(args) {
    const { values } = parseArgs({
      args,
      options: {
        member: { type: 'string' },
        uri: { type: 'string' },
        name: { type: 'string', default: 'rs0' },
      },
    });
    const { member, name } = values;
    if (!member) throw new WrongUsage('--member is required.');
    const uri = values.uri ?? `mongodb://${member}`;
    await withAdminDatabase(uri, (admin) => becomePrimary(admin, name, member));
    console.log(`${member} is the primary of the replica set ${name}`);
    const { ADMIN_PASSWORD } = process.env;
    if (ADMIN_PASSWORD) console.log(await createAdministrator(uri, ADMIN_PASSWORD));
  },
};

async function becomePrimary(admin: Db, name: string, host: string): Promise<void> {
  const giveUpAt = Date.now() + startMs;
  let isInitiated = false;
  while (!(await isPrimary(admin))) {
    if (Date.now() > giveUpAt) throw new Error(`${host} did not become primary within ${startMs / 1000} s.`);
    if (!isInitiated) isInitiated = await initiate(admin, name, host);
    await sleep(200);
  }
}

async function isPrimary(admin: Db): Promise<boolean> {
  return (await admin.command({ hello: 1 })).isWritablePrimary === true;
}

/** Initiates the replica set unless it exists. Returns false if the mongod cannot do it yet. */
async function initiate(admin: Db, name: string, host: string): Promise<boolean> {
  try {
    await admin.command({ replSetInitiate: { _id: name, members: [{ _id: 0, host }] } });
    return true;
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    // a set with users refuses this command: it exists and is electing its primary
    if (['AlreadyInitialized', 'Unauthorized'].includes(String(error.codeName))) return true;
    // the mongod does not reach itself at this address yet
    if (error.codeName === 'NodeNotFound') return false;
    throw error;
  }
}

/** Creates the administrator unless it exists with this password. Returns what was done. */
async function createAdministrator(uri: string, password: string): Promise<string> {
  if (await canLogIn(uri, password)) return 'The administrator exists already';
  const create = { createUser: 'admin', pwd: password, roles: ['root'] };
  try {
    await withAdminDatabase(uri, (admin) => admin.command(create));
    return 'Created the administrator';
  } catch (cause) {
    const advice = 'Use the ADMIN_PASSWORD with which this database was set up.';
    throw new Error(`MongoDB has users, but no user admin with this password. ${advice}`, { cause });
  }
}

async function canLogIn(uri: string, password: string): Promise<boolean> {
  const auth = { username: 'admin', password };
  try {
    await withAdminDatabase(uri, (admin) => admin.command({ connectionStatus: 1 }), auth);
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && error.codeName === 'AuthenticationFailed') return false;
    throw error;
  }
}

async function withAdminDatabase<R>(
  uri: string,
  work: (admin: Db) => Promise<R>,
  auth?: { username: string; password: string },
): Promise<R> {
  const client = new MongoClient(uri, {
    directConnection: true,
    serverSelectionTimeoutMS: startMs,
    ...(auth && { auth, authSource: 'admin' }),
  });
  try {
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}
