/** Provides RabbitMQ for tests; uses an available broker if possible and installs one otherwise. */
import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { installPackage, isAccessible, printLine } from './debian.ts';
import { canConnect, type RabbitBroker, startBroker } from './rabbit-broker.ts';
import { askTestRun } from './servers.ts';
import { slowness, until } from './until.ts';

/** A shared broker for tests: its address, and a function that stops it unless it was already running. */
export type TestRabbit = { url: string; stop(): Promise<void> };

/**
 * Provides a RabbitMQ that tests share, each with its own queues or prefix: the one of the test run, else the
 * address in TEST_AMQP_URL, else the installed programs, else Docker, else the distribution's package, which is
 * installed now.
 */
export async function testRabbit(): Promise<TestRabbit> {
  const given = (await askTestRun('rabbitmq')) ?? process.env.TEST_AMQP_URL;
  if (given) return { url: given, stop: async () => {} };
  const programs = await findPrograms();
  if (programs) return startLocal(programs);
  return (await startInDocker()) ?? startLocal(await installRabbit());
}

/** Starts a RabbitMQ for one test, which may kill, freeze and empty it. */
export async function ownRabbit(): Promise<RabbitBroker> {
  return startBroker((await findPrograms()) ?? (await installRabbit()));
}

async function startLocal(programs: string): Promise<TestRabbit> {
  const { url, stop } = await startBroker(programs);
  printLine(`RabbitMQ for the tests: ${programs}, port ${new URL(url).port}, data in a temporary folder.`);
  return { url, stop };
}

/** Where distributions install the programs; their wrappers on root's PATH would switch to another user. */
const libraries = '/usr/lib/rabbitmq/lib';

/** The folder of rabbitmq-server and rabbitmqctl; undefined if they are not installed. */
async function findPrograms(): Promise<string | undefined> {
  const versions = await readdir(libraries).catch(() => []);
  const folders = [
    ...versions
      .filter((name) => name.startsWith('rabbitmq_server-'))
      .map((name) => join(libraries, name, 'sbin')),
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => !/^(\/usr)?\/sbin$/.test(folder)),
  ];
  for (const folder of folders) if (await isAccessible(join(folder, 'rabbitmq-server'))) return folder;
  return undefined;
}

const image = 'rabbitmq:4';
const daemonMs = 10_000 * slowness;
const pullMs = 90_000 * slowness;

/** Starts RabbitMQ in Docker; undefined without a daemon, or if the image is not pulled in time. */
async function startInDocker(): Promise<TestRabbit | undefined> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  const rejectAfter = (ms: number) =>
    new Promise<never>((_, reject) => setTimeout(reject, ms, new Error(`no answer within ${ms} ms`)).unref());
  const isAvailable = await Promise.race([getContainerRuntimeClient(), rejectAfter(daemonMs)]).then(
    () => true,
    () => false,
  );
  if (!isAvailable) return undefined;
  try {
    const starting = new GenericContainer(image).withExposedPorts(5672).start();
    const container = await Promise.race([starting, rejectAfter(pullMs)]);
    const url = `amqp://guest:guest@${container.getHost()}:${container.getMappedPort(5672)}/`;
    await until('RabbitMQ in Docker', () => canConnect(url));
    printLine(`RabbitMQ for the tests: ${image} in Docker.`);
    return { url, stop: async () => void (await container.stop()) };
  } catch (error) {
    printLine(
      `Could not start ${image} in Docker (${String((error as Error).message).split('\n')[0]}); trying the next option.`,
    );
    return undefined;
  }
}

/** Installs the distribution's package; rejects with instructions if that fails. */
async function installRabbit(): Promise<string> {
  await installPackage('rabbitmq-server', 'RabbitMQ for the tests');
  const programs = await findPrograms();
  if (programs) return programs;
  throw new Error(
    'The tests need RabbitMQ. Install the package rabbitmq-server, start Docker, or set TEST_AMQP_URL.',
  );
}
