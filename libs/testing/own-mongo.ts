/** A MongoDB replica set of a test's own, which it may kill, freeze and send away: one member, or several that vote. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import mongoose from 'mongoose';
import { findBinary } from '../store/embedded/binary.ts';
import { setName, waitUntilListening } from '../store/embedded/replica-set.ts';
import { freePorts } from './ports.ts';
import { until } from './until.ts';

/** One mongod. */
export interface MongoMember {
  readonly port: number;
  /** Stops and continues it as it is: its connections stay half open. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again at the same address with what is on its disk; resolves when it takes connections. */
  start(): Promise<void>;
}

/** A replica set. */
export interface MongoServers {
  /** Address of all members. */
  uri: string;
  members: readonly MongoMember[];
  /** Resolves with the member that takes writes, as soon as there is one. */
  primary(): Promise<MongoMember>;
  /** Makes the primary step down; alone, it is no primary for so many seconds. */
  stepDown(seconds: number): Promise<void>;
  /** From now on the primary fails these commands, or hesitates; with nothing given it is well again. One ailment at a time. */
  ail(how?: Ailment): Promise<void>;
  /** Ends all of it and removes the data; may be called twice. */
  stop(): Promise<void>;
}

/** What MongoDB's own failpoint `failCommand` does. */
export interface Ailment {
  commands: readonly string[];
  /** Of which clients; nothing given is all. */
  appName?: string;
  /** How long each hesitates. */
  blockMs?: number;
  /** The code of the error that each ends with, e.g. 13 for `Unauthorized`. */
  errorCode?: number;
}

const startMs = 60_000;

/** Starts a replica set with so many members, whose elections take two seconds; it goes at the latest with this process. */
export async function ownMongo(count = 1): Promise<MongoServers> {
  const { path } = await findBinary(() => undefined);
  const folder = await mkdtemp(join(tmpdir(), 'pds-mongo-'));
  const members = await Promise.all((await freePorts(count)).map((port) => member(path, folder, port)));
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`);

  const primary = () =>
    until(
      'a primary',
      async () => {
        const found = await Promise.all(members.map(async (one) => (await isPrimary(one)) && one));
        return found.find((one) => one !== false);
      },
      startMs,
    );
  const servers: MongoServers = {
    uri: `mongodb://${hosts.join(',')}/?replicaSet=${setName}`,
    members,
    primary,
    async stepDown(seconds) {
      // force: alone, there is nobody who could take over
      const order = { replSetStepDown: seconds, secondaryCatchUpPeriodSecs: 0, force: true };
      const orders = count > 1 ? { replSetStepDown: seconds } : order;
      await onAdmin(await primary(), (admin) => admin.command(orders));
    },
    async ail(how) {
      const order = { configureFailPoint: 'failCommand', ...(how ? ailing(how) : { mode: 'off' }) };
      await onAdmin(await primary(), (admin) => admin.command(order));
    },
    async stop() {
      await Promise.all(members.map((one) => one.kill()));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    await Promise.all(members.map((one) => one.start()));
    const [first] = members;
    const set = {
      _id: setName,
      members: hosts.map((host, _id) => ({ _id, host })),
      settings: { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 },
    };
    if (first) await onAdmin(first, (admin) => admin.command({ replSetInitiate: set }));
    await primary();
  } catch (error) {
    await servers.stop();
    throw error;
  }
  return servers;
}

/** Waits until stdin closes, for whatever reason, then kills the server: a SIGKILL of the test leaves no orphan. */
const keeping = '"$0" "$@" </dev/null >/dev/null 2>&1 & echo $!; cat >/dev/null; kill -KILL $!; wait';

async function member(program: string, folder: string, port: number): Promise<MongoMember> {
  const data = join(folder, String(port));
  await mkdir(data);
  let running: { pid: number; keeper: ChildProcess; gone: Promise<unknown> } | undefined;
  const signal = (name: NodeJS.Signals) => {
    if (running) process.kill(running.pid, name);
  };
  return {
    port,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async kill() {
      const current = running;
      running = undefined;
      current?.keeper.stdin?.end();
      await current?.gone;
    },
    async start() {
      const keeper = spawn('/bin/sh', ['-c', keeping, program, ...argsOf(data, port)], {
        detached: true,
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      keeper.stdin?.on('error', () => {});
      const gone = once(keeper, 'exit');
      const [line] = await once(createInterface(keeper.stdout), 'line');
      running = { pid: Number(line), keeper, gone };
      await waitUntilListening(port, AbortSignal.timeout(startMs));
    },
  };
}

function argsOf(data: string, port: number): string[] {
  return [
    ...['--dbpath', data, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
    ...['--replSet', setName, '--oplogSize', '64', '--wiredTigerCacheSizeGB', '0.25'],
    // a transaction that a killed process had begun stays locked for so long
    ...['--setParameter', 'transactionLifetimeLimitSeconds=10'],
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    // failpoints
    ...['--setParameter', 'enableTestCommands=1'],
  ];
}

function ailing({ commands, appName, blockMs, errorCode }: Ailment) {
  const data = {
    failCommands: commands,
    ...(appName !== undefined && { appName }),
    ...(blockMs !== undefined && { blockConnection: true, blockTimeMS: blockMs }),
    ...(errorCode !== undefined && { errorCode }),
  };
  return { mode: 'alwaysOn', data };
}

async function isPrimary(one: MongoMember): Promise<boolean> {
  try {
    return (await onAdmin(one, (admin) => admin.command({ hello: 1 }))).isWritablePrimary === true;
  } catch {
    return false;
  }
}

async function onAdmin<R>(one: MongoMember, work: (admin: mongoose.mongo.Db) => Promise<R>): Promise<R> {
  const limits = { serverSelectionTimeoutMS: 1_000, connectTimeoutMS: 1_000, socketTimeoutMS: 10_000 };
  const uri = `mongodb://127.0.0.1:${one.port}/?directConnection=true`;
  const client = new mongoose.mongo.MongoClient(uri, limits);
  try {
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}
