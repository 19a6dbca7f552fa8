/** Starts the system for the chaos journey in one of three deployments, with RabbitMQ and MongoDB users. */
import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { freePorts, ownRabbit, type RabbitBroker, slowness } from '#libs/testing';
import memoryLimits from '../../../scripts/memory-limits.json' with { type: 'json' };
import { contracts } from '../../../services/contracts.ts';
import { fiveProcesses, localSettings, startServers } from '../../five-processes.ts';
import { runScript, type SupervisedProgram, stopProgram, supervise } from '../../programs.ts';
import type { ServiceUsers } from '../../service-users.ts';

/** The deployments. */
export type Deployment = 'all in one' | 'five under Node' | 'five under Deno';

/** The running system. */
export interface ChaosFixture {
  /** Origin of the API. */
  origin: string;
  /** All processes by name. */
  processes: ReadonlyMap<string, SupervisedProgram>;
  rabbit: RabbitBroker;
  /** Prefix of every name on RabbitMQ. */
  prefix: string;
  db: mongoose.mongo.Db;
  /** Time limit of a request to a receiver, ms. */
  deadlineMs: number;
  /** Stops all processes and servers. Returns the exit codes. */
  stop(): Promise<(number | null)[]>;
}

/** The processes and what they share. */
type RunningSystem = Pick<ChaosFixture, 'origin' | 'processes' | 'prefix' | 'stop'> & { users: ServiceUsers };

const timeoutSeconds = Math.ceil(6 * slowness);
const settings = {
  RATE_LIMIT_PER_MINUTE: '0',
  REGISTRATIONS_PER_HOUR: '0',
  LOGINS_PER_MINUTE: '0',
  // the lease of a killed process expires 20 s after this time limit
  WEBHOOK_TIMEOUT_SECONDS: String(timeoutSeconds),
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.5,2',
};

/**
 * Starts the system. Resolves when all processes are ready. `hasMemoryLimits`: all in one process has the limits of
 * `npm start`; five processes have none.
 */
export async function chaosFixture(way: Deployment, { hasMemoryLimits = false } = {}): Promise<ChaosFixture> {
  const rabbit = ownRabbit();
  const limits = hasMemoryLimits ? memoryLimits : { flags: [], environment: {} };
  const running = await (way === 'all in one'
    ? startAllInOne(() => rabbit, limits)
    : startFive(way, () => rabbit));
  const client = new mongoose.mongo.MongoClient(running.users.administrator);
  // a transaction of a killed process keeps its locks for this time; the default is one minute
  const parameter = { setParameter: 1, transactionLifetimeLimitSeconds: Math.ceil(5 * slowness) };
  await client
    .db('admin')
    .command(parameter)
    .catch(async (error: unknown) => {
      await running.stop();
      throw error;
    });
  return {
    ...running,
    rabbit: await rabbit,
    db: client.db(),
    deadlineMs: 1_000 * timeoutSeconds,
    async stop() {
      await client.close();
      return running.stop();
    },
  };
}

async function startFive(way: Deployment, rabbit: () => Promise<RabbitBroker>): Promise<RunningSystem> {
  const runtime = way === 'five under Node' ? 'node' : 'deno';
  const { services, gateway, ...running } = await fiveProcesses(runtime, { rabbit, settings });
  const parts = [...services.map((one) => [one.name, one] as const), ['gateway', gateway] as const];
  return { ...running, processes: new Map(parts) };
}

async function startAllInOne(
  startRabbit: () => Promise<RabbitBroker>,
  limits: { flags: string[]; environment: Record<string, string> },
): Promise<RunningSystem> {
  const { rabbit, users, stop } = await startServers(startRabbit);
  try {
    const [port] = await freePorts(1);
    const prefix = `test-${randomBytes(4).toString('hex')}.`;
    const environment = {
      ...localSettings,
      ...settings,
      ...limits.environment,
      MONGODB_URI: await createCombinedUser(users),
      AMQP_URL: rabbit.url,
      AMQP_PREFIX: prefix,
      ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
      HOST: '127.0.0.1',
      PORT: String(port),
      MANAGEMENT_PORT: '0',
    };
    const launch = () => runScript('../services/all.ts', [], environment, { flags: limits.flags });
    const program = await supervise({ name: 'all in one', launch, ready: /^\{.*"msg":"Ready"\}$/m });
    return {
      origin: `http://127.0.0.1:${port}`,
      processes: new Map([['all in one', program]]),
      prefix,
      users,
      async stop() {
        const code = await stopProgram(program);
        await stop();
        return [code];
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates a user with the roles of all five services. Returns its URI. */
async function createCombinedUser({ administrator, getUri }: ServiceUsers): Promise<string> {
  const client = await mongoose.mongo.MongoClient.connect(administrator);
  const pwd = randomBytes(12).toString('hex');
  try {
    const roles = contracts.map(({ name }) => `${name}-service`);
    await client.db().command({ createUser: 'all-in-one', pwd, roles });
  } finally {
    await client.close();
  }
  const uri = new URL(getUri('identity'));
  uri.username = 'all-in-one';
  uri.password = pwd;
  return uri.href;
}
