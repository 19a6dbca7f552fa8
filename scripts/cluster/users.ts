/** MongoDB's users on the cluster, tried one by one: each may what its contract says, and nothing else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import mongoose from 'mongoose';
import { toGrants } from '#libs/store';
import { contracts } from '../../services/contracts.ts';
import { type Cluster, toolPath } from './tools.ts';

/** What users could do and should not, or the other way round; nothing when all is as the contracts say. */
export async function wrongGrants(cluster: Cluster): Promise<string[]> {
  const forward = await forwarded(cluster, 'pod/mongodb-0', 27017);
  try {
    const found = [];
    for (const { name } of contracts) found.push(...(await wrongOf(cluster, name, forward.port)));
    return found;
  } finally {
    await forward.close();
  }
}

async function wrongOf(cluster: Cluster, name: string, port: number): Promise<string[]> {
  const { data } = await cluster.get('secret', `process-document-service-${name}`);
  const uri = new URL(Buffer.from(data.uri, 'base64').toString());
  uri.host = `127.0.0.1:${port}`;
  uri.search = '?directConnection=true';
  const client = await mongoose.mongo.MongoClient.connect(uri.href);
  try {
    const db = client.db();
    const all = contracts.flatMap((contract) => toGrants(contract)).map(({ collection }) => collection);
    const own = new Map(
      toGrants(contracts.find((one) => one.name === name) ?? contracts[0]).map((one) => [
        one.collection,
        one.actions,
      ]),
    );
    const found = [];
    for (const on of new Set(all.filter(Boolean))) {
      const rows = db.collection(on);
      // a change of a row that is not there: MongoDB asks for the right first
      const nobody = { _id: new mongoose.mongo.ObjectId() };
      const tried = {
        find: () => rows.findOne(nobody),
        update: () => rows.updateOne(nobody, { $set: { name: '' } }),
        remove: () => rows.deleteOne(nobody),
      };
      for (const [action, attempt] of Object.entries(tried)) {
        const may = own.get(on)?.includes(action) ?? false;
        const could = await attempt().then(() => true, isOther);
        if (may !== could) found.push(`${name} ${could ? 'can' : 'cannot'} ${action} ${on}`);
      }
    }
    return found;
  } finally {
    await client.close();
  }
}

/** Whether a refusal is about something else than rights. */
function isOther(error: unknown): boolean {
  if (error instanceof mongoose.mongo.MongoServerError && error.codeName === 'Unauthorized') return false;
  throw error;
}

/** A port of this machine that leads to one of a pod. */
async function forwarded(cluster: Cluster, to: string, port: number) {
  const path = await toolPath('kubectl');
  if (!path) throw new Error('There is no kubectl');
  const args = ['--namespace', cluster.namespace, 'port-forward', to, `:${port}`];
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  child.stdout.resume();
  const found = /127\.0\.0\.1:(\d+)/.exec(String(line))?.[1];
  if (!found) throw new Error(`kubectl port-forward said ${line}`);
  return {
    port: Number(found),
    async close() {
      child.kill();
      await once(child, 'close');
    },
  };
}
