/** Makes a started mongod the writable primary of its one-member replica set, whichever port it listens on today. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';

/** The name of the replica set. */
export const setName = 'pds';

/** Resolves when the port takes connections; rejects with the signal's reason when that is given up. */
export async function waitUntilListening(port: number, signal: AbortSignal): Promise<void> {
  while (!(await acceptsConnections(port))) {
    signal.throwIfAborted();
    await sleep(15);
  }
}

/**
 * Resolves when the mongod at that address is a writable primary: initiated as `member` (its own host and port as it sees
 * them), or told that it has moved there, if need be.
 */
export async function becomePrimary(uri: string, member: string, signal: AbortSignal): Promise<void> {
  const options = { directConnection: true, serverSelectionTimeoutMS: 10_000 };
  const client = new mongoose.mongo.MongoClient(uri, options);
  try {
    const admin = client.db('admin');
    for (;;) {
      signal.throwIfAborted();
      try {
        if ((await admin.command({ hello: 1 })).isWritablePrimary) return;
        await configureMember((command) => admin.command(command), member);
      } catch (error) {
        if (!isTransient(error)) throw error;
      }
      await sleep(15);
    }
  } finally {
    await client.close();
  }
}

/** What a mongod answers while it is still finding itself. */
const transientCodes = new Set([
  'AlreadyInitialized',
  'ConfigurationInProgress',
  'InterruptedDueToReplStateChange',
  'NewReplicaSetConfigurationIncompatible',
  'NotPrimaryOrSecondary',
  'NotYetInitialized',
]);

/** A mongod also closes its connections when it becomes something else. */
function isTransient(error: unknown): boolean {
  if (error instanceof mongoose.mongo.MongoNetworkError) return true;
  return transientCodes.has((error as { codeName?: string }).codeName ?? '');
}

type Command = (command: Record<string, unknown>) => Promise<Record<string, unknown>>;

async function configureMember(command: Command, host: string): Promise<void> {
  const state = await command({ replSetGetStatus: 1 }).then(
    () => 'member',
    (error: { codeName?: string }) => error.codeName,
  );
  const members = [{ _id: 0, host }];
  if (state === 'NotYetInitialized') await command({ replSetInitiate: { _id: setName, members } });
  if (state !== 'InvalidReplicaSetConfig') return;
  const config = (await command({ replSetGetConfig: 1 })).config as { version: number };
  await command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true });
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => answer(true));
    socket.on('error', () => answer(false));
    socket.on('connect', () => socket.destroy());
  });
}
