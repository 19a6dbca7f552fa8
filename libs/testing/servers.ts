/** The real servers that tests run against, each by a chain that needs no set-up: what is there first, what must be fetched last. */
import {
  type Binary,
  becomePrimary,
  downloadBinary,
  findLocalBinary,
  startMongod,
} from '../store/embedded/mongod.ts';

/** A server for tests: its address, and how to stop it (which does nothing to a server that was there before). */
export type TestServer = { uri: string; stop(): Promise<void> };

/**
 * A MongoDB replica set for tests: the address in TEST_MONGODB_URI, else a mongod that is here (PATH, cache), else Docker,
 * else a mongod fetched now. Which one is said in one line on stderr.
 */
export async function testMongo(): Promise<TestServer> {
  const given = process.env.TEST_MONGODB_URI;
  if (given) return { uri: given, stop: async () => {} };
  const local = await findLocalBinary(say);
  if (local) return embedded(local);
  return (await inDocker()) ?? embedded(await downloadBinary(say));
}

async function embedded(binary: Binary): Promise<TestServer> {
  // a transaction must fit into 15 % of the cache: those of the largest documents do
  const { uri, port, origin, stop } = await startMongod({ say, binary, cacheGB: 0.5 });
  say(`MongoDB for the tests: ${origin}, port ${port}, data in a temporary folder.`);
  return { uri, stop };
}

const image = 'mongo:7.0';
const daemonMs = 2_000;
const pullMs = 90_000;

/** MongoDB in a container; undefined where no Docker daemon answers, or where the image does not come in time. */
async function inDocker(): Promise<TestServer | undefined> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers');
  const answers = await within(daemonMs, getContainerRuntimeClient()).then(
    () => true,
    () => false,
  );
  if (!answers) return undefined;
  try {
    const container = await within(
      pullMs,
      new GenericContainer(image)
        .withCommand(['--replSet', 'pds', '--bind_ip_all'])
        .withExposedPorts(27017)
        .withWaitStrategy(Wait.forLogMessage(/Waiting for connections/))
        .start(),
    );
    const uri = `mongodb://${container.getHost()}:${container.getMappedPort(27017)}/?directConnection=true`;
    await becomePrimary(uri, '127.0.0.1:27017', AbortSignal.timeout(20_000));
    say(`MongoDB for the tests: ${image} in Docker.`);
    return { uri, stop: async () => void (await container.stop()) };
  } catch (error) {
    say(`Docker gives no ${image} (${String((error as Error).message).split('\n')[0]}): going on.`);
    return undefined;
  }
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const limit = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
    late.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  return Promise.race([work, limit]).finally(() => late.abort());
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
