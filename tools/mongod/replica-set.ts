/** Makes a started mongod the primary of its one-member replica set, even if its port has changed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, MongoNetworkError } from 'mongodb';

/** The name of the replica set. */
export const setName = 'pds';

/**
 * Resolves when the mongod at `uri` is a writable primary. If necessary, initiates the replica set with
 * `member` (the host and port of mongod as it sees them), or reconfigures it to that member.
 */
export async function becomePrimary(uri: string, member: string, signal: AbortSignal): Promise<void> {
  const options = { directConnection: true, serverSelectionTimeoutMS: 10_000 };
  const client = new MongoClient(uri, options);
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

/** The error codes of a mongod whose replica set is still starting. */
const transientCodes = new Set([
  'AlreadyInitialized',
  'ConfigurationInProgress',
  'InterruptedDueToReplStateChange',
  'NewReplicaSetConfigurationIncompatible',
  'NotPrimaryOrSecondary',
  'NotYetInitialized',
]);

/** Whether to try again. A mongod also closes its connections when its replica set state changes. */
function isTransient(error: unknown): boolean {
  if (error instanceof MongoNetworkError) return true;
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
