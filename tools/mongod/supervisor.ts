/**
 * Runs one mongod until its standard input closes, which happens when its owner process ends for any reason,
 * or until mongod ends by itself.
 * Prints the port when the mongod is the primary of its replica set.
 */
import { rm } from 'node:fs/promises';
import { MongoMemoryServer } from 'mongodb-memory-server-core';
import { becomePrimary, setName } from './replica-set.ts';
import { serverArguments } from './server-arguments.ts';

/** The options of the supervisor, as JSON in its only argument. */
export interface SupervisorOptions {
  binary: { path: string; version: string };
  /** The folder of the database files. It exists. */
  dbPath: string;
  /** A folder to remove at the end, because the data is temporary. */
  temporaryFolder?: string;
  /** The size limit of WiredTiger's cache, in GB. */
  cacheGB: number;
  /** A key file, which enables authentication. */
  keyFile?: string;
}

/** How long mongod may take to recover its data after a kill, ms. */
const recoveryMs = 120_000;

if (process.argv[1] === import.meta.filename) await supervise(JSON.parse(process.argv[2] ?? '{}'));

async function supervise(options: SupervisorOptions): Promise<void> {
  const server = createServer(options);
  const starting = startPrimary(server);
  let ending: Promise<void> | undefined;
  const end = () => (ending ??= stopAndExit(server, starting, options.temporaryFolder));
  process.stdin.resume().on('close', end);
  // the owner handles Ctrl-C
  for (const name of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(name, () => {});
  await starting.then(
    (port) => {
      // also if mongod ends by itself: its owner notices the end of the supervisor
      server.instanceInfo?.instance.mongodProcess?.once('exit', end);
      process.stdout.write(`${port}\n`);
    },
    (error: Error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(1);
    },
  );
}

async function stopAndExit(
  server: MongoMemoryServer,
  starting: Promise<unknown>,
  temporaryFolder?: string,
): Promise<void> {
  await starting.catch(() => {});
  await server.stop({ doCleanup: false });
  if (temporaryFolder) await rm(temporaryFolder, { recursive: true, force: true });
  process.exit();
}

function createServer({ binary, dbPath, cacheGB, keyFile }: SupervisorOptions): MongoMemoryServer {
  return new MongoMemoryServer({
    binary: { systemBinary: binary.path, version: binary.version },
    instance: {
      dbPath,
      ip: '127.0.0.1',
      replSet: setName,
      storageEngine: 'wiredTiger',
      launchTimeout: recoveryMs,
      ...(keyFile && { keyfileLocation: keyFile }),
      args: serverArguments(cacheGB),
    },
    ...(keyFile && { auth: { enable: true } }),
  });
}

async function startPrimary(server: MongoMemoryServer): Promise<number> {
  await server.start();
  const port = server.instanceInfo?.port ?? 0;
  const member = `127.0.0.1:${port}`;
  await becomePrimary(`mongodb://${member}/`, member, AbortSignal.timeout(recoveryMs));
  return port;
}
