/** The command that sets up a new mongod with authentication, against a real one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { freePorts } from '#libs/testing';
import { runScript } from '../../tests/programs.ts';
import { findBinary } from '../mongod/binary.ts';

let folder: string;
let member: string;
let mongod: ChildProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-replica-set-'));
  const keyFile = join(folder, 'key');
  await writeFile(keyFile, randomBytes(96).toString('base64'), { mode: 0o600 });
  const [port] = await freePorts(1);
  member = `127.0.0.1:${port}`;
  const place = ['--dbpath', folder, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'];
  const { path } = await findBinary(() => {});
  mongod = spawn(path, [...place, '--replSet', 'rs0', '--keyFile', keyFile], { stdio: 'ignore' });
});

afterAll(async () => {
  const exited = once(mongod, 'exit');
  mongod.kill('SIGKILL');
  await exited;
  await rm(folder, { recursive: true, force: true });
});

async function runReplicaSet(ADMIN_PASSWORD: string) {
  const args = ['replica-set', '--member', member];
  const { exited, printed } = runScript('../tools/admin/main.ts', args, { ADMIN_PASSWORD });
  return { code: await exited, text: printed() };
}

test('replica-set initiates a set and creates its administrator once', async () => {
  const primary = `${member} is the primary of the replica set rs0\n`;
  expect(await runReplicaSet('correct')).toEqual({ code: 0, text: `${primary}Created the administrator\n` });
  const client = new MongoClient(`mongodb://admin:correct@${member}/?replicaSet=rs0&authSource=admin`);
  try {
    const { members } = await client.db('admin').command({ replSetGetStatus: 1 });
    expect(members).toEqual([expect.objectContaining({ name: member, stateStr: 'PRIMARY' })]);
  } finally {
    await client.close();
  }
  const again = `${primary}The administrator exists already\n`;
  expect(await runReplicaSet('correct')).toEqual({ code: 0, text: again });
  const { code, text } = await runReplicaSet('wrong');
  expect([code, text]).toEqual([1, expect.stringContaining('no user admin with this password')]);
});
