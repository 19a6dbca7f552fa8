/** Starts the five services under Node or Deno, one process each with its own MongoDB user, and the gateway. */
import { randomBytes } from 'node:crypto';
import { freePorts, type TestRabbit, testRabbit } from '#libs/testing';
import { contracts } from '../services/contracts.ts';
import { getChildPid, runScript, type SupervisedProgram, stopProgram, supervise } from './programs.ts';
import { type ServiceUsers, serviceUsers } from './service-users.ts';

/** A running process of a service. */
export interface ServiceProcess extends SupervisedProgram {
  name: string;
  origin: string;
  management: string;
}

/** The running services and their gateway. */
export interface FiveProcesses {
  /** Origin of the gateway. */
  origin: string;
  gateway: SupervisedProgram;
  services: readonly ServiceProcess[];
  users: ServiceUsers;
  /** Prefix of every name on RabbitMQ. */
  prefix: string;
  /** Stops all processes and servers. Returns the exit codes, the gateway's first. */
  stop(): Promise<(number | null)[]>;
}

/** Options of `fiveProcesses`. */
export interface FiveProcessesOptions {
  /** Replicas of each service. The gateway uses the first one. */
  replicas?: number;
  /** Starts RabbitMQ, which `stop` stops as well. */
  rabbit?: () => Promise<TestRabbit>;
  settings?: Record<string, string>;
}

/** Starts all processes at the same time, on an empty database. */
export async function fiveProcesses(
  runtime: 'node' | 'deno',
  choices: FiveProcessesOptions = {},
): Promise<FiveProcesses> {
  const { replicas = 1, settings = {} } = choices;
  const { rabbit, users, stop: stopServers } = await startServers(choices.rabbit ?? testRabbit);
  const prefix = `test-${randomBytes(4).toString('hex')}.`;
  const common = {
    ...localSettings,
    AMQP_URL: rabbit.url,
    AMQP_PREFIX: prefix,
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    ...settings,
  };
  const running: SupervisedProgram[] = [];
  const stop = async () => {
    const codes = await Promise.all(running.map(stopProgram));
    await stopServers();
    return codes;
  };
  const startService = async (name: string, [port, managementPort]: number[]): Promise<ServiceProcess> => {
    const own = { PORT: `${port}`, MANAGEMENT_PORT: `${managementPort}`, MONGODB_URI: users.getUri(name) };
    const program = await supervise({
      name,
      ...(runtime === 'node'
        ? { launch: () => runScript('service.ts', [name], { ...common, ...own }) }
        : { launch: () => runScript('service-deno.ts', [name], { ...common, ...own }), getPid: getChildPid }),
      ready: /^\{.*"msg":"Ready"\}$/m,
    });
    running.push(program);
    const [origin, management] = [port, managementPort].map((one) => `http://127.0.0.1:${one}`);
    return Object.assign(program, { name, origin: `${origin}`, management: `${management}` });
  };
  try {
    const names = contracts.flatMap(({ name }) => Array<string>(replicas).fill(name));
    const [gatewayPort, ...ports] = await freePorts(1 + 2 * names.length);
    const starts = names.map((name, at) => startService(name, ports.slice(2 * at, 2 * at + 2)));
    // wait for every start, also for failed ones, before anything is stopped
    await Promise.allSettled(starts);
    const services = await Promise.all(starts);
    const addresses = services.map(({ name, origin }) => [
      `${name.toUpperCase().replaceAll('-', '_')}_URL`,
      origin,
    ]);
    const gatewayEnvironment = { PORT: `${gatewayPort}`, ...Object.fromEntries(addresses.reverse()) };
    const launch = () => runScript('gateway.ts', [], gatewayEnvironment);
    const gateway = await supervise({ name: 'the gateway', launch, ready: /http:\/\/\S+:\d+/ });
    running.unshift(gateway);
    return { origin: `http://127.0.0.1:${gatewayPort}`, gateway, services, users, prefix, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts RabbitMQ, and MongoDB with its users, at the same time. */
export async function startServers<Rabbit extends TestRabbit>(startRabbit: () => Promise<Rabbit>) {
  const [rabbitStart, usersStart] = [startRabbit(), serviceUsers()];
  const stop = async () => {
    // one server may have started although the other one failed
    const started = await Promise.allSettled([rabbitStart, usersStart]);
    await Promise.all(started.map((one) => one.status === 'fulfilled' && one.value.stop()));
  };
  try {
    return { rabbit: await rabbitStart, users: await usersStart, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Settings of every process in a test. */
export const localSettings = {
  LOG_LEVEL: 'info',
  DRAIN_SECONDS: '3',
  DEFAULT_PLAN: 'scale',
  WEBHOOK_ALLOW_INSECURE_TARGETS: 'true',
};
