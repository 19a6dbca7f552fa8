/** Checks on the cluster that each MongoDB user has exactly the grants of its contract. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import mongoose from 'mongoose';
import { toGrants } from '#libs/store';
import { contracts } from '../../services/contracts.ts';
import { type Cluster, findTool } from './tools.ts';

/**
 * Returns the differences between the actual and the declared grants of all services; empty if there are
 * none.
 */
export async function findWrongGrants(cluster: Cluster): Promise<string[]> {
  const forward = await forwardPort(cluster, 'pod/mongodb-0', 27017);
  try {
    const found = [];
    for (const { name } of contracts) found.push(...(await checkUser(cluster, name, forward.port)));
    return found;
  } finally {
    await forward.close();
  }
}

async function checkUser(cluster: Cluster, name: string, port: number): Promise<string[]> {
  const { data } = await cluster.get('secret', `process-document-service-${name}`);
  const uri = new URL(Buffer.from(data.uri, 'base64').toString());
  uri.host = `127.0.0.1:${port}`;
  uri.search = '?directConnection=true';
  const client = await mongoose.mongo.MongoClient.connect(uri.href);
  try {
    const db = client.db();
    const all = contracts.flatMap((contract) => toGrants(contract)).map(({ collection }) => collection);
    const own = new Map(
      toGrants(contracts.find((contract) => contract.name === name) ?? contracts[0]).map(
        ({ collection, actions }) => [collection, actions],
      ),
    );
    const found = [];
    for (const collection of new Set(all.filter(Boolean))) {
      const rows = db.collection(collection);
      // the row does not exist, but MongoDB checks the grant first
      const noRow = { _id: new mongoose.mongo.ObjectId() };
      const actions = {
        find: () => rows.findOne(noRow),
        update: () => rows.updateOne(noRow, { $set: { name: '' } }),
        remove: () => rows.deleteOne(noRow),
      };
      for (const [action, attempt] of Object.entries(actions)) {
        const isGranted = own.get(collection)?.includes(action) ?? false;
        const isPossible = await attempt().then(() => true, assertAuthorized);
        if (isGranted !== isPossible)
          found.push(`${name} ${isPossible ? 'can' : 'cannot'} ${action} ${collection}`);
      }
    }
    return found;
  } finally {
    await client.close();
  }
}

/** Returns false if the error is a missing grant. Throws any other error. */
function assertAuthorized(error: unknown): boolean {
  if (error instanceof mongoose.mongo.MongoServerError && error.codeName === 'Unauthorized') return false;
  throw error;
}

/** Forwards a local port to a port of a pod. */
async function forwardPort(cluster: Cluster, to: string, port: number) {
  const path = await findTool('kubectl');
  if (!path) throw new Error('kubectl was not found');
  const args = ['--namespace', cluster.namespace, 'port-forward', to, `:${port}`];
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  child.stdout.resume();
  const found = /127\.0\.0\.1:(\d+)/.exec(String(line))?.[1];
  if (!found) throw new Error(`Unexpected output of kubectl port-forward: ${line}`);
  return {
    port: Number(found),
    async close() {
      child.kill();
      await once(child, 'close');
    },
  };
}
