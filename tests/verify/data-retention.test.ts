/** Runs the commands of docs/data-retention.md that erase a person and remove an organization. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { findBrokenInvariants } from '../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../tools/admin/verify/invariants.ts';
import { findFirst, getRows } from './change-rows.ts';
import { type SeededDatabase, seedDatabase } from './seeded-database.ts';

const page = readFileSync(new URL('../../docs/data-retention.md', import.meta.url), 'utf8');

/** Collections whose rows expire; the page says that they keep names. */
const expiring = /_outbox$|^(notifications|webhook_events|webhook_listener_events)$/;

let database: SeededDatabase;
beforeAll(async () => {
  database = await seedDatabase();
});
afterEach(() => database.restore());
afterAll(() => database?.drop());

/** Runs the block of the page that contains a placeholder as mongosh does, which awaits each command. */
async function runBlock(placeholder: string, id: string): Promise<void> {
  const blocks = [...page.matchAll(/^ *```js\n(.*?)^ *```$/gms)].map(([, text = '']) => text);
  const [block, ...others] = blocks.filter((text) => text.includes(placeholder));
  if (block === undefined || others.length > 0) throw new Error(`Not one block has ${placeholder}`);
  const { db } = database;
  const shell = new Proxy(
    {
      getCollection: (name: string) => db.collection(name),
      getCollectionInfos: (filter: object) => db.listCollections(filter).toArray(),
    } as Record<string, unknown>,
    { get: (commands, name: string) => commands[name] ?? db.collection(name) },
  );
  const text = block.replaceAll(placeholder, id).replaceAll(/\bdb\./g, 'await db.');
  await new Function('db', `return (async () => { ${text} })()`)(shell);
}

/** The collections that have the text in a row. */
async function findCollections(text: string): Promise<string[]> {
  const found = [];
  for (const { name } of await database.db.listCollections({ type: 'collection' }).toArray()) {
    const rows = name.startsWith('system.') ? [] : await getRows(database.db, name).find().toArray();
    if (JSON.stringify(rows).includes(text)) found.push(name);
  }
  return found;
}

async function findBroken(): Promise<string[]> {
  const found = [];
  const now = { now: new Date(), graceMs: 3_600_000 };
  for await (const { invariant } of findBrokenInvariants(database.db, invariants, now))
    found.push(invariant.name);
  return found;
}

test('erasing a person leaves their name only in rows that expire', async () => {
  const { db } = database;
  const { approvers } = await findFirst(db, 'approvals', { 'approvers.name': { $ne: null } });
  const [{ member_id: person }] = approvers as [{ member_id: string }];
  const { email } = await findFirst(db, 'users', { _id: person });
  // a name that no other person has
  const [name, networks] = ['Ada Unique', [{ hash: 'hash of a network', at: new Date() }]];
  await getRows(db, 'users').updateOne({ _id: person }, { $set: { name, usual_networks: networks } });
  const approval = { 'approvers.member_id': person, 'approvers.name': { $ne: null } };
  await getRows(db, 'approvals').updateMany(approval, { $set: { 'approvers.$.name': name } });
  expect(await findCollections(name)).toEqual(expect.arrayContaining(['users', 'approvals']));

  await runBlock('USER_ID', person);
  for (const text of [name, String(email), 'hash of a network'])
    expect((await findCollections(text)).filter((collection) => !expiring.test(collection))).toEqual([]);
  expect(await getRows(db, 'approvals').countDocuments({ 'approvers.name': 'Erased' })).toBeGreaterThan(0);
  expect(await findBroken()).toEqual([]);
});

test('removing an organization leaves no row of it', async () => {
  const organizations = await getRows(database.db, 'organizations').find().toArray();
  expect(organizations.length).toBeGreaterThan(1);
  // a plan with limits leaves such rows
  const locks = organizations.map(({ _id }) => ({ _id: `${_id}:documents`, taken: 1 }));
  await getRows(database.db, 'identity_locks').insertMany(locks);
  for (const [at, { _id }] of organizations.entries()) {
    // the last one has no members yet
    const isJoined = at < organizations.length - 1;
    expect((await findCollections(_id)).length).toBeGreaterThan(isJoined ? 10 : 5);
    await runBlock('ORGANIZATION_ID', _id);
    expect(await findCollections(_id)).toEqual([]);
    expect(await findBroken()).toEqual([]);
    expect(await getRows(database.db, 'organizations').countDocuments()).toBe(organizations.length - 1 - at);
  }
});
