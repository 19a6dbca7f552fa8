/** Provides a real MongoDB for tests; uses an available one if possible and downloads one otherwise. */
import type { Binary } from '../../tools/mongod/binary.ts';
import { slowness } from './until.ts';

/** A server for tests: its address, and a function that stops it unless it was already running. */
export type TestServer = { uri: string; stop(): Promise<void> };

/** How long services wait for a MongoDB that is busy with other tests, before they respond with 503. */
const busyMs = Math.ceil(30_000 * slowness);

/**
 * Provides a MongoDB replica set: the one of the test run, else the address in TEST_MONGODB_URI, else a local
 * mongod (PATH or cache), else Docker, else a mongod that is downloaded now. Prints which one to stderr.
 */
export async function testMongo(): Promise<TestServer> {
  const { uri, stop } = await findMongo();
  const url = new URL(uri);
  for (const name of ['serverSelectionTimeoutMS', 'connectTimeoutMS'])
    url.searchParams.set(name, `${busyMs}`);
  return { uri: url.href, stop };
}

async function findMongo(): Promise<TestServer> {
  const given = (await askTestRun('mongodb')) ?? process.env.TEST_MONGODB_URI;
  if (given) return { uri: given, stop: async () => {} };
  const { downloadBinary, findLocalBinary } = await import('../../tools/mongod/binary.ts');
  const local = await findLocalBinary(printLine);
  if (local) return startEmbedded(local);
  return (await startInDocker()) ?? startEmbedded(await downloadBinary(printLine));
}

/** The address of a server of this test run, which starts it if needed; undefined outside of a test run. */
export async function askTestRun(name: 'mongodb' | 'rabbitmq'): Promise<string | undefined> {
  const { TEST_SERVERS } = process.env;
  if (!TEST_SERVERS) return undefined;
  const response = await fetch(`${TEST_SERVERS}/${name}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`Could not start ${name}: ${text}`);
  return text;
}

async function startEmbedded(binary: Binary): Promise<TestServer> {
  const { startMongod } = await import('../../tools/mongod/mongod.ts');
  // a transaction must fit into 15 % of the cache; with 0.5 GB the first tree of the largest documents does
  const { uri, port, origin, stop } = await startMongod({ say: printLine, binary, cacheGB: 0.5 });
  printLine(`MongoDB for the tests: ${origin}, port ${port}, data in a temporary folder.`);
  return { uri, stop };
}

const image = 'mongo:7.0';
const daemonMs = 10_000 * slowness;
const pullMs = 90_000 * slowness;

/** Starts MongoDB in Docker; undefined without a daemon, or if the image is not pulled in time. */
async function startInDocker(): Promise<TestServer | undefined> {
  const { becomePrimary } = await import('../../tools/mongod/replica-set.ts');
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers');
  const isAvailable = await withTimeout(daemonMs, getContainerRuntimeClient()).then(
    () => true,
    () => false,
  );
  if (!isAvailable) return undefined;
  try {
    const container = await withTimeout(
      pullMs,
      new GenericContainer(image)
        .withCommand(['--replSet', 'pds', '--bind_ip_all'])
        .withExposedPorts(27017)
        .withWaitStrategy(Wait.forLogMessage(/Waiting for connections/))
        .start(),
    );
    const uri = `mongodb://${container.getHost()}:${container.getMappedPort(27017)}/?directConnection=true`;
    await becomePrimary(uri, '127.0.0.1:27017', AbortSignal.timeout(60_000 * slowness));
    printLine(`MongoDB for the tests: ${image} in Docker.`);
    return { uri, stop: async () => void (await container.stop()) };
  } catch (error) {
    printLine(
      `Could not start ${image} in Docker (${String((error as Error).message).split('\n')[0]}); trying the next option.`,
    );
    return undefined;
  }
}

async function withTimeout<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const timeout = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
    settled.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  return Promise.race([work, timeout]).finally(() => settled.abort());
}

function printLine(line: string): void {
  process.stderr.write(`${line}\n`);
}
