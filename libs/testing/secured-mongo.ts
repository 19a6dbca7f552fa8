/** A MongoDB replica set with authentication, for tests of user permissions. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestServer } from './servers.ts';

/** Starts a mongod with a key file and authentication; `uri` contains the administrator's credentials. */
export async function securedMongo(): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-keys-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  const keyFile = join(folder, 'key');
  try {
    await writeFile(keyFile, randomBytes(96).toString('base64'), { mode: 0o600 });
    const { startMongod } = await import('../../tools/mongod/mongod.ts');
    const mongod = await startMongod({ say: () => {}, keyFile });
    const stop = () => mongod.stop().finally(removeFolder);
    try {
      return { uri: await createAdministrator(mongod.port), stop };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** Creates the first user (MongoDB's localhost exception allows it); returns the URI with its credentials. */
async function createAdministrator(port: number): Promise<string> {
  const { default: mongoose } = await import('mongoose');
  const client = new mongoose.mongo.MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
  const pwd = randomBytes(18).toString('hex');
  try {
    await client.db('admin').command({ createUser: 'administrator', pwd, roles: ['root'] });
  } finally {
    await client.close();
  }
  return `mongodb://administrator:${pwd}@127.0.0.1:${port}/?replicaSet=pds&authSource=admin`;
}
