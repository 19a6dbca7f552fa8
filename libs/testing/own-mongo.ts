/** A MongoDB replica set for one test, which may kill its members or make the primary step down. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type mongoose from 'mongoose';
import { freePorts } from './ports.ts';
import { slowness, until } from './until.ts';

/** One mongod process. */
export interface MongoMember {
  readonly port: number;
  /** Kills the process (SIGKILL); resolves when it has exited. */
  kill(): Promise<void>;
  /** Starts the process at the same address with its data; resolves when it accepts connections. */
  start(): Promise<void>;
}

/** A running replica set. */
export interface MongoReplicaSet {
  /** The connection string with all members. */
  uri: string;
  members: readonly MongoMember[];
  /** Resolves with the primary, as soon as the set has one. */
  primary(): Promise<MongoMember>;
  /** Makes the primary step down; it cannot become primary again for this many seconds. */
  stepDown(seconds: number): Promise<void>;
  /** Sets a fail point on the primary, replacing the previous one; without an argument, removes it. */
  setFailPoint(failPoint?: FailPoint): Promise<void>;
  /** Kills all members and removes the data; may be called twice. */
  stop(): Promise<void>;
}

/** The options of MongoDB's fail point `failCommand`. */
export interface FailPoint {
  commands: readonly string[];
  /** Affects only clients with this name; the default is all clients. */
  appName?: string;
  /** Delay of each command, ms. */
  blockMs?: number;
  /** The code of the error that each command returns, e.g. 13 for `Unauthorized`. */
  errorCode?: number;
}

const startMs = 60_000;
const setName = 'pds';

/**
 * Starts a replica set. A primary without a majority steps down after the election timeout, which is longer on a slow
 * machine. The set is killed at the latest with this process.
 */
export async function ownMongo(count = 1, { electionTimeoutMs = 2_000 } = {}): Promise<MongoReplicaSet> {
  const { findBinary } = await import('../../tools/mongod/binary.ts');
  const { path } = await findBinary(() => undefined);
  const folder = await mkdtemp(join(tmpdir(), 'pds-mongo-'));
  const members = await Promise.all((await freePorts(count)).map((port) => createMember(path, folder, port)));
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`);

  const primary = () =>
    until(
      'a primary',
      async () => {
        const found = await Promise.all(
          members.map(async (candidate) => (await isPrimary(candidate)) && candidate),
        );
        return found.find((candidate) => candidate !== false);
      },
      startMs,
    );
  const replicaSet: MongoReplicaSet = {
    uri: `mongodb://${hosts.join(',')}/?replicaSet=${setName}`,
    members,
    primary,
    async stepDown(seconds) {
      // a single member must be forced, because no other member can become primary
      const forced = { replSetStepDown: seconds, secondaryCatchUpPeriodSecs: 0, force: true };
      const command = count > 1 ? { replSetStepDown: seconds } : forced;
      await withAdmin(await primary(), (admin) => admin.command(command));
    },
    async setFailPoint(failPoint) {
      const options = failPoint ? toFailPoint(failPoint) : { mode: 'off' };
      const command = { configureFailPoint: 'failCommand', ...options };
      await withAdmin(await primary(), (admin) => admin.command(command));
    },
    async stop() {
      await Promise.all(members.map((member) => member.kill()));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    await Promise.all(members.map((member) => member.start()));
    const [first] = members;
    const set = {
      _id: setName,
      members: hosts.map((host, _id) => ({ _id, host })),
      settings: {
        electionTimeoutMillis: Math.ceil(electionTimeoutMs * slowness),
        heartbeatIntervalMillis: 500,
      },
    };
    if (first) await withAdmin(first, (admin) => admin.command({ replSetInitiate: set }));
    await primary();
  } catch (error) {
    await replicaSet.stop();
    throw error;
  }
  return replicaSet;
}

/** Kills the server when stdin closes, so that it also ends if the test process is killed (SIGKILL). */
const keeperScript = '"$0" "$@" </dev/null >/dev/null 2>&1 & cat >/dev/null; kill -KILL $!; wait';

async function createMember(program: string, folder: string, port: number): Promise<MongoMember> {
  const data = join(folder, String(port));
  await mkdir(data);
  let running: { keeper: ChildProcess; gone: Promise<unknown> } | undefined;
  return {
    port,
    async kill() {
      const current = running;
      running = undefined;
      current?.keeper.stdin?.end();
      await current?.gone;
    },
    async start() {
      const keeper = spawn('/bin/sh', ['-c', keeperScript, program, ...toArguments(data, port)], {
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      keeper.stdin?.on('error', () => {});
      running = { keeper, gone: once(keeper, 'exit') };
      await until('mongod to listen', () => acceptsConnections(port), startMs);
    },
  };
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function toArguments(data: string, port: number): string[] {
  return [
    ...['--dbpath', data, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
    ...['--replSet', setName, '--oplogSize', '64', '--wiredTigerCacheSizeGB', '0.25'],
    // the locks of a transaction whose client was killed are released after this time
    ...['--setParameter', `transactionLifetimeLimitSeconds=${Math.ceil(10 * slowness)}`],
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    // enables fail points
    ...['--setParameter', 'enableTestCommands=1'],
  ];
}

function toFailPoint({ commands, appName, blockMs, errorCode }: FailPoint) {
  const data = {
    failCommands: commands,
    ...(appName !== undefined && { appName }),
    ...(blockMs !== undefined && { blockConnection: true, blockTimeMS: blockMs }),
    ...(errorCode !== undefined && { errorCode }),
  };
  return { mode: 'alwaysOn', data };
}

async function isPrimary(member: MongoMember): Promise<boolean> {
  try {
    const hello = await withAdmin(member, (admin) => admin.command({ hello: 1 }), 1_000);
    return hello.isWritablePrimary === true;
  } catch {
    return false;
  }
}

/** Connects to one member. Rejects if the member does not respond within the time limit. */
async function withAdmin<R>(
  member: MongoMember,
  work: (admin: mongoose.mongo.Db) => Promise<R>,
  limitMs = 30_000 * slowness,
): Promise<R> {
  const limits = {
    serverSelectionTimeoutMS: limitMs,
    connectTimeoutMS: limitMs,
    socketTimeoutMS: Math.max(limitMs, 10_000),
  };
  const uri = `mongodb://127.0.0.1:${member.port}/?directConnection=true`;
  const { default: mongoose } = await import('mongoose');
  const client = new mongoose.mongo.MongoClient(uri, limits);
  try {
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}
