/**
 * Initiates a replica set of one member on the mongod of the same pod and creates an administrator. Then it
 * waits.
 */
import { setTimeout as pause } from 'node:timers/promises';
import mongodb from 'mongodb';

const { NAMESPACE, ADMIN_PASSWORD } = process.env;
const host = `mongodb-0.mongodb.${NAMESPACE}.svc.cluster.local:27017`;
const print = (line) => process.stdout.write(`${line}\n`);
const stopped = new AbortController();
process.on('SIGTERM', () => stopped.abort());

/**
 * Runs `work` with the admin database. Without any user, MongoDB allows localhost to create the first one.
 */
async function withAdminDatabase(work, auth) {
  const client = new mongodb.MongoClient('mongodb://127.0.0.1:27017/?directConnection=true', {
    serverSelectionTimeoutMS: 2_000,
    ...(auth && { auth }),
  });
  try {
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}

async function initiateReplicaSet(admin) {
  try {
    await admin.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host }] } });
    print(`Initiated the replica set rs0 of ${host}`);
  } catch (error) {
    // the replica set exists already, or it exists and requires authentication
    if (!['AlreadyInitialized', 'Unauthorized'].includes(error.codeName)) throw error;
  }
}

const hasAdministrator = () =>
  withAdminDatabase(async (admin) => (await admin.command({ connectionStatus: 1 })).ok === 1, {
    username: 'admin',
    password: ADMIN_PASSWORD,
  }).catch(() => false);

while (!stopped.signal.aborted) {
  try {
    if (await hasAdministrator()) break;
    await withAdminDatabase(initiateReplicaSet);
    await withAdminDatabase((admin) =>
      admin.command({ createUser: 'admin', pwd: ADMIN_PASSWORD, roles: ['root'] }),
    );
    print('Created the administrator');
  } catch (error) {
    print(`Not ready yet: ${error.message}`);
    await pause(1_000, undefined, { signal: stopped.signal }).catch(() => {});
  }
}
print('The replica set and its administrator are ready');
// Kubernetes would restart a container that ends, so this one keeps running
while (!stopped.signal.aborted) await pause(3_600_000, undefined, { signal: stopped.signal }).catch(() => {});
