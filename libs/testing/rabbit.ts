/** RabbitMQ for tests, by a chain that needs no set-up: what is there first, what must be installed last. */
import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { installPackage, isAccessible, printLine } from './debian.ts';
import { canConnect, type RabbitBroker, startBroker } from './rabbit-broker.ts';
import { until } from './until.ts';

/** A broker for tests that share it: its address, and how to stop it (which does nothing to one that was there before). */
export type TestRabbit = { url: string; stop(): Promise<void> };

/**
 * A RabbitMQ for tests: the address in TEST_AMQP_URL, else the programs of the distribution, else Docker, else the
 * distribution's package installed now. Tests share it: each uses queues or a prefix of its own.
 */
export async function testRabbit(): Promise<TestRabbit> {
  const given = process.env.TEST_AMQP_URL;
  if (given) return { url: given, stop: async () => {} };
  const programs = await rabbitPrograms();
  if (programs) return startLocal(programs);
  return (await startInDocker()) ?? startLocal(await installRabbit());
}

/** A RabbitMQ of a test's own, which it may kill, freeze and empty. */
export async function ownRabbit(): Promise<RabbitBroker> {
  return startBroker((await rabbitPrograms()) ?? (await installRabbit()));
}

async function startLocal(programs: string): Promise<TestRabbit> {
  const { url, stop } = await startBroker(programs);
  printLine(`RabbitMQ for the tests: ${programs}, port ${new URL(url).port}, data in a temporary folder.`);
  return { url, stop };
}

/** Where a distribution keeps the programs; its wrappers on the PATH of root would change the user. */
const libraries = '/usr/lib/rabbitmq/lib';

/** The folder of rabbitmq-server and rabbitmqctl, if they are here. */
async function rabbitPrograms(): Promise<string | undefined> {
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
const daemonMs = 2_000;
const pullMs = 90_000;

/** RabbitMQ in a container; undefined where no Docker daemon answers, or where the image does not come in time. */
async function startInDocker(): Promise<TestRabbit | undefined> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  const late = (ms: number) =>
    new Promise<never>((_, reject) => setTimeout(reject, ms, new Error(`no answer within ${ms} ms`)).unref());
  const there = await Promise.race([getContainerRuntimeClient(), late(daemonMs)]).then(
    () => true,
    () => false,
  );
  if (!there) return undefined;
  try {
    const starting = new GenericContainer(image).withExposedPorts(5672).start();
    const container = await Promise.race([starting, late(pullMs)]);
    const url = `amqp://guest:guest@${container.getHost()}:${container.getMappedPort(5672)}/`;
    await until('RabbitMQ in Docker', () => canConnect(url), 60_000);
    printLine(`RabbitMQ for the tests: ${image} in Docker.`);
    return { url, stop: async () => void (await container.stop()) };
  } catch (error) {
    printLine(`Docker gives no ${image} (${String((error as Error).message).split('\n')[0]}): going on.`);
    return undefined;
  }
}

/** Installs the distribution's package; where that cannot be, says what to do. */
async function installRabbit(): Promise<string> {
  await installPackage('rabbitmq-server', 'RabbitMQ for the tests');
  const programs = await rabbitPrograms();
  if (programs) return programs;
  throw new Error(
    'There is no RabbitMQ for the tests: install the package rabbitmq-server, or start Docker, or set TEST_AMQP_URL.',
  );
}
