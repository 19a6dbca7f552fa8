/** Tests `npm run verify` as a MongoDB user who may only read. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId, Secret } from '#libs/contract';
import { createKeyring } from '#libs/store';
import { securedMongo } from '#libs/testing';
import { runScript } from '../programs.ts';

let mongo: Awaited<ReturnType<typeof securedMongo>>;
let administrator: mongoose.mongo.MongoClient;
/** The connection string of the user. */
let uri: string;

beforeAll(async () => {
  mongo = await securedMongo();
  administrator = await mongoose.mongo.MongoClient.connect(mongo.uri);
  const [database, pwd] = ['process_documents', 'only-for-reading'];
  const roles = [{ role: 'read', db: database }];
  await administrator.db(database).command({ createUser: 'auditor', pwd, roles });
  const own = new URL(mongo.uri);
  Object.assign(own, { username: 'auditor', password: pwd, pathname: `/${database}` });
  own.searchParams.delete('authSource');
  uri = own.href;
});
afterAll(async () => {
  await administrator?.close();
  await mongo?.stop();
});

const keys = randomBytes(32).toString('base64');

async function verify(...args: string[]): Promise<{ code: number | null; lines: string[] }> {
  return verifyWith({ ENCRYPTION_KEYS: keys }, ...args);
}

async function verifyWith(
  settings: Record<string, string>,
  ...args: string[]
): Promise<{ code: number | null; lines: string[] }> {
  const { exited, printed } = runScript('../tools/admin/main.ts', ['verify', ...args], {
    MONGODB_URI: uri,
    ...settings,
  });
  return { code: await exited, lines: printed().trim().split('\n') };
}

test('verify prints each broken invariant and exits with 1', async () => {
  expect(await verify()).toEqual({ code: 0, lines: [expect.stringMatching(/^All \d+ invariants hold\.$/)] });
  const nodes = administrator.db('process_documents').collection<{ _id: string }>('nodes');
  const _id = newId();
  await nodes.insertOne({ _id, ...{ node_type: 'section', parent_id: null, order: 1 } });
  // the services create the indexes of their collections when they start
  const lines = [
    expect.stringMatching(/^indexes: 2 broken \(nodes \{/),
    `nodes.document_id: 1 broken (${_id}). A node belongs to a document of its organization.`,
  ];
  expect(await verify()).toEqual({
    code: 1,
    lines: [...lines, expect.stringMatching(/^2 of \d+ invariants are broken\.$/)],
  });
  expect(await verify('nodes.document_id')).toEqual({
    code: 1,
    lines: [lines[1], '1 of 1 invariants are broken.'],
  });
  expect(await verify('nodes.order', 'documents.')).toMatchObject({ code: 0 });
});

test('verify reports a secret that no key opens, without the secret', async () => {
  const readers = administrator
    .db('process_documents')
    .collection<{ _id: string }>('acknowledgement_readers');
  const _id = newId();
  const other = createKeyring(new Secret(randomBytes(32).toString('base64')));
  const sealed = other.seal('token', `acknowledgement_readers.token/${_id}`);
  await readers.insertOne({ _id, ...{ sealed } });
  const name = 'acknowledgement_readers.sealed';
  const { code, lines } = await verify(name);
  expect({ code, lines }).toEqual({
    code: 1,
    lines: [
      `${name}: 1 broken (${_id}). A key in \`ENCRYPTION_KEYS\` decrypts each secret of this field.`,
      '1 of 1 invariants are broken.',
    ],
  });
  const omitted = await verifyWith({ ENCRYPTION_KEYS: '' }, name, 'nodes.order');
  expect(omitted).toEqual({
    code: 0,
    lines: [expect.stringMatching(/^ENCRYPTION_KEYS is not set/), 'All 1 invariants hold.'],
  });
  const { code: unchecked, lines: explained } = await verifyWith({ ENCRYPTION_KEYS: '' }, name);
  expect([unchecked, explained[0]]).toEqual([1, 'ENCRYPTION_KEYS is required to check the stored secrets.']);
});

test.each([
  [['--grace-minutes', 'some'], /^--grace-minutes needs a number/],
  [['nothing.like.this'], /^No invariant begins with nothing.like.this\./],
])('verify %j explains how it is used', async (args, message) => {
  const { code, lines } = await verify(...args);
  expect([code, lines[0]]).toEqual([1, expect.stringMatching(message)]);
});
