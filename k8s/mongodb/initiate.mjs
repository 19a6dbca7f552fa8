/** Makes the mongod beside it a replica set of one member and gives it an administrator; what is there already stays. Then it waits. */
import { setTimeout as pause } from 'node:timers/promises';
import mongodb from 'mongodb';

const { NAMESPACE, ADMIN_PASSWORD } = process.env;
const host = `mongodb-0.mongodb.${NAMESPACE}.svc.cluster.local:27017`;
const say = (line) => process.stdout.write(`${line}\n`);
const stopped = new AbortController();
process.on('SIGTERM', () => stopped.abort());

/** Works with the admin database; as long as there is no user, this machine alone may make the first one. */
async function onAdmin(work, auth) {
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

async function initiated(admin) {
  try {
    await admin.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host }] } });
    say(`made the replica set rs0 of ${host}`);
  } catch (error) {
    // it was one before, or it is one that only asks who we are
    if (!['AlreadyInitialized', 'Unauthorized'].includes(error.codeName)) throw error;
  }
}

const hasAdministrator = () =>
  onAdmin(async (admin) => (await admin.command({ connectionStatus: 1 })).ok === 1, {
    username: 'admin',
    password: ADMIN_PASSWORD,
  }).catch(() => false);

while (!stopped.signal.aborted) {
  try {
    if (await hasAdministrator()) break;
    await onAdmin(initiated);
    await onAdmin((admin) => admin.command({ createUser: 'admin', pwd: ADMIN_PASSWORD, roles: ['root'] }));
    say('made the administrator');
  } catch (error) {
    say(`not yet: ${error.message}`);
    await pause(1_000, undefined, { signal: stopped.signal }).catch(() => {});
  }
}
say('the replica set and its administrator are there');
// a container that ends is started again, so this one stays
while (!stopped.signal.aborted) await pause(3_600_000, undefined, { signal: stopped.signal }).catch(() => {});
