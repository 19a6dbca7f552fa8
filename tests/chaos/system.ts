/** Starts identity, documents and replicas of webhook delivery as separate processes, on given servers. */
import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { createView } from '#libs/store';
import { apiClient, freePorts, type HttpClient, slowness } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { localSettings } from '../five-processes.ts';
import { runScript, type SupervisedProgram, stopProgram, supervise } from '../programs.ts';

/** A running process of a service. */
export interface ServiceProcess extends SupervisedProgram {
  name: string;
  origin: string;
  management: string;
}

/** The running processes, and a client that sends each request to the service that implements its path. */
export interface System extends HttpClient {
  processes: readonly ServiceProcess[];
  /** The replicas of webhook delivery. */
  deliverers: readonly ServiceProcess[];
  /** The database, over a connection without faults. */
  db: mongoose.mongo.Db;
  /** Prefix of every name on RabbitMQ. */
  prefix: string;
  /** Time limit of a request to a receiver, ms. */
  deadlineMs: number;
  /** The last warnings and errors in the logs of the processes. They explain a failed check. */
  getWarnings(): string[];
  /** Aborted when `stop` is called. */
  signal: AbortSignal;
  /** Stops all processes with SIGTERM. Returns the exit codes. */
  stop(): Promise<(number | null)[]>;
}

/** Options of `startSystem`. */
export interface SystemOptions {
  /** URI of MongoDB for the tests. */
  mongo: string;
  rabbit: string;
  /** URI of MongoDB for the services, if it leads through a proxy. */
  serviceMongo?: string;
  /** The same, only for webhook delivery. */
  delivererMongo?: string;
  replicas?: number;
  /** The services to start; one that is named twice has two replicas. */
  names?: readonly string[];
  settings?: Record<string, string>;
}

/**
 * Default time limit of a request to a receiver. It includes the lag of the sender and of the test process, so it is
 * longer on a slow machine.
 */
const timeoutSeconds = Math.ceil(10 * slowness);
/** Settings for short leases: the lease of a killed process expires 20 s after the time limit of a request. */
export const shortLeases = { WEBHOOK_TIMEOUT_SECONDS: String(Math.ceil(6 * slowness)) };

const defaultSettings = {
  RATE_LIMIT_PER_MINUTE: '0',
  REGISTRATIONS_PER_HOUR: '0',
  LOGINS_PER_MINUTE: '0',
  WEBHOOK_TIMEOUT_SECONDS: String(timeoutSeconds),
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.5,2',
};
/** Many times as long as a request and the drain take, and shorter than the time limit of a hook. */
const stopMs = 110_000 * slowness;
const usualNames = ['identity', 'documents', 'webhook-delivery'];
const delivery = 'webhook-delivery';

/** Starts the processes with a new database. */
export async function startSystem(choices: SystemOptions): Promise<System> {
  const { replicas = 1, names = usualNames, settings = {} } = choices;
  const unique = randomBytes(4).toString('hex');
  const prefix = `test-${unique}.`;
  const inOwn = (uri: string) => withPath(uri, `faults_${unique}`);
  const environment = {
    ...localSettings,
    ...defaultSettings,
    AMQP_URL: choices.rabbit,
    AMQP_PREFIX: prefix,
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    ...settings,
  };
  const client = await mongoose.mongo.MongoClient.connect(inOwn(choices.mongo));
  const processes: ServiceProcess[] = [];
  const stopping = new AbortController();
  const stop = async () => {
    stopping.abort();
    const codes = await Promise.all(processes.map(stopInTime));
    await client
      .db()
      .dropDatabase()
      .finally(() => client.close());
    return codes;
  };
  const startProcess = async (name: string, [port, managementPort]: number[]) => {
    const { serviceMongo = choices.mongo, delivererMongo = serviceMongo } = choices;
    const uri = name === delivery ? delivererMongo : serviceMongo;
    const own = { PORT: `${port}`, MANAGEMENT_PORT: `${managementPort}`, MONGODB_URI: inOwn(uri) };
    const launch = () => runScript('service.ts', [name], { ...environment, ...own });
    const program = await supervise({ name, launch, ready: /^\{.*"msg":"Ready"\}$/m });
    const origins = { origin: `http://127.0.0.1:${port}`, management: `http://127.0.0.1:${managementPort}` };
    processes.push(Object.assign(program, { name, ...origins }));
  };
  const getOrigin = (path: string) => processes.find(({ name }) => name === findOwner(path))?.origin ?? '';
  try {
    // the services read views of others, which an earlier start of these has created
    const absent = contracts.filter(({ name }) => !names.includes(name)).flatMap(({ views }) => views);
    for (const view of absent) await createView(client.db(), view);
    const all = [...names, ...Array<string>(replicas - 1).fill(delivery)];
    const ports = await freePorts(2 * all.length);
    const starts = all.map((name, at) => startProcess(name, ports.slice(2 * at, 2 * at + 2)));
    // wait for every start, also for failed ones, before anything is stopped
    await Promise.allSettled(starts);
    await Promise.all(starts);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...apiClient(getOrigin),
    processes,
    deliverers: processes.filter(({ name }) => name === delivery),
    db: client.db(),
    prefix,
    deadlineMs: 1_000 * Number(settings.WEBHOOK_TIMEOUT_SECONDS ?? timeoutSeconds),
    getWarnings: () => processes.flatMap(findWarnings),
    signal: stopping.signal,
    stop,
  };
}

function findWarnings({ name, printed }: ServiceProcess): string[] {
  const lines = printed().split('\n');
  const warnings = lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line));
  return warnings.slice(-20).map((line) => `log of ${name}: ${line}`);
}

/** Stops a process. If it does not stop in time, kills it and rejects with the end of its output. */
async function stopInTime(part: ServiceProcess): Promise<number | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      part.process.kill('SIGKILL');
      const output = part.printed().trim().split('\n').slice(-20).join('\n');
      reject(new Error(`${part.name} did not exit within ${stopMs} ms of SIGTERM:\n${output}`));
    }, stopMs);
  });
  return Promise.race([stopProgram(part), late]).finally(() => clearTimeout(timer));
}

/** The service whose contract has an operation with this path. */
function findOwner(path: string): string | undefined {
  const [own = ''] = path.split('?');
  const matches = (pattern: string) => new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(own);
  return contracts.find(({ operations }) => operations.some((operation) => matches(operation.path)))?.name;
}

function withPath(uri: string, database: string): string {
  const [server, query] = uri.split('?');
  return `${server?.replace(/\/$/, '')}/${database}${query ? `?${query}` : ''}`;
}
