/** Tests that MongoDB lets no service change or remove a row of an append-only collection. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { contract, Secret } from '#libs/contract';
import { openUserAdmin } from '#libs/store';
import { securedMongo } from '#libs/testing';
import { contracts } from '../services/contracts.ts';

/** A service besides the real ones, so that the tests do not depend on what those append to. */
const journalKeeper = contract({
  name: 'journal-keeper',
  title: 'Journal keeper',
  description: 'Appends to a journal.',
  ...{ operations: [], publishes: [], consumes: [], views: [], reads: [] },
  owns: ['drafts'],
  appends: ['journal'],
});
const all = [...contracts, journalKeeper];
const appended = all.flatMap(({ name, appends = [] }) =>
  appends.map((collection) => ({ collection, owner: name })),
);

let mongo: Awaited<ReturnType<typeof securedMongo>>;
let administrator: mongoose.mongo.Db;
const clients = new Map<string, mongoose.mongo.MongoClient>();

beforeAll(async () => {
  mongo = await securedMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = '/process_documents';
  const users = await openUserAdmin(new Secret(uri.href));
  clients.set('administrator', await mongoose.mongo.MongoClient.connect(uri.href));
  for (const one of all) {
    const own = new URL(uri);
    own.searchParams.delete('authSource');
    [own.username, own.password] = [one.name, randomBytes(12).toString('hex')];
    await users.upsert(one, () => new Secret(own.password));
    clients.set(one.name, await mongoose.mongo.MongoClient.connect(own.href));
  }
  await users.close();
  administrator = getDb('administrator');
});

afterAll(async () => {
  for (const client of clients.values()) await client.close();
  await mongo?.stop();
});

describe.each(appended)('$collection, to which $owner appends', ({ collection, owner }) => {
  test('accepts new rows of its owner, which reads them', async () => {
    const rows = getDb(owner).collection(collection);
    const { insertedId } = await rows.insertOne({ text: 'first' });
    expect(await rows.findOne({ _id: insertedId })).toMatchObject({ text: 'first' });
  });

  test('refuses every change and removal to the users of all services', async () => {
    const { insertedId } = await administrator.collection(collection).insertOne({ text: 'as written' });
    for (const { name } of all) {
      const changes = toChanges(getDb(name).collection(collection), insertedId);
      expect([name, ...(await findRefused(changes))]).toEqual([name, ...Object.keys(changes)]);
    }
    expect(await administrator.collection(collection).findOne({ _id: insertedId })).toMatchObject({
      text: 'as written',
    });
  });
});

test('the same changes succeed in an owned collection', async () => {
  const rows = getDb(journalKeeper.name).collection('drafts');
  const { insertedId } = await rows.insertOne({ text: 'first' });
  const { update, upsert, replace, remove } = toChanges(rows, insertedId);
  expect(await findRefused({ update, upsert, replace, remove })).toEqual([]);
});

function getDb(user: string): mongoose.mongo.Db {
  const client = clients.get(user);
  if (!client) throw new Error(`No client of ${user}`);
  return client.db('process_documents');
}

/** Every way to change or remove a row, or the whole collection. */
function toChanges(rows: mongoose.mongo.Collection, _id: mongoose.mongo.ObjectId) {
  const [row, changed, name] = [{ _id }, { $set: { text: 'changed' } }, rows.collectionName];
  return {
    update: () => rows.updateOne(row, changed),
    upsert: () => rows.updateOne(row, changed, { upsert: true }),
    replace: () => rows.replaceOne(row, { text: 'changed' }),
    findAndUpdate: () => rows.findOneAndUpdate(row, changed),
    bulk: () => rows.bulkWrite([{ updateMany: { filter: {}, update: changed } }]),
    merge: () => rows.aggregate([{ $match: row }, { $merge: { into: name } }]).toArray(),
    out: () => rows.aggregate([{ $match: row }, { $out: name }]).toArray(),
    findAndRemove: () => rows.findOneAndDelete(row),
    expire: () => rows.createIndex({ at: 1 }, { expireAfterSeconds: 0 }),
    changeIndex: () => rows.db.command({ collMod: name, index: { name: 'text_1', expireAfterSeconds: 0 } }),
    cap: () => rows.db.command({ convertToCapped: name, size: 4096 }),
    dropIndex: () => rows.dropIndex('text_1'),
    rename: () => rows.rename(`${name}_2`),
    drop: () => rows.drop(),
    remove: () => rows.deleteOne(row),
  };
}

/** The names of the commands that MongoDB refuses as not authorized (code 13). Other failures are thrown. */
async function findRefused(commands: Record<string, () => Promise<unknown>>): Promise<string[]> {
  const refused: string[] = [];
  for (const [name, command] of Object.entries(commands)) {
    const isRefused = await command().then(
      () => false,
      (error: unknown) => {
        if (error instanceof mongoose.mongo.MongoServerError && error.code === 13) return true;
        throw error;
      },
    );
    if (isRefused) refused.push(name);
  }
  return refused;
}
