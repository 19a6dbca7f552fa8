/** Tests `npm run verify` as a MongoDB user who may only read. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
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

async function verify(...args: string[]): Promise<{ code: number | null; lines: string[] }> {
  const { exited, printed } = runScript('../tools/admin/main.ts', ['verify', ...args], { MONGODB_URI: uri });
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

test.each([
  [['--grace-minutes', 'some'], /^--grace-minutes needs a number/],
  [['nothing.like.this'], /^No invariant begins with nothing.like.this\./],
])('verify %j explains how it is used', async (args, message) => {
  const { code, lines } = await verify(...args);
  expect([code, lines[0]]).toEqual([1, expect.stringMatching(message)]);
});
