/** Runs services in this process for tests: on free ports, over a real MongoDB, in a new database. */
import { randomBytes } from 'node:crypto';
import type mongoose from 'mongoose';
import type { Contract } from '#libs/contract';
import type { AnyService } from '#libs/service';
import { apiClient, type HttpClient } from './http-client.ts';
import { type SecretScanner, secretScanner } from './secrets.ts';
import { testMongo } from './servers.ts';
import { slowness } from './until.ts';

/** Running services, a client of their API and their database. */
export interface TestApp extends HttpClient {
  /** Origin of the API, e.g. `http://127.0.0.1:40123`. */
  origin: string;
  /** Origin of the management port. */
  management: string;
  /** The database of this app. */
  db: mongoose.mongo.Db;
  /** All log lines of the services so far, at every level. */
  logLines(): LogLine[];
  /** The secrets that must not be logged: those of the settings, of all requests and of all responses. */
  secrets: SecretScanner;
  /** Stops the services and starts them again with the same database. */
  restart(): Promise<void>;
  /**
   * Starts a second instance of the services with the same database. `stop` of the app stops it too, if it has not
   * stopped before. Without RabbitMQ, it has its own bus.
   */
  replica(): Promise<HttpClient & { management: string; stop(): Promise<void> }>;
  /** Stops everything and drops the database; rejects if a secret was logged. */
  stop(): Promise<void>;
}

/** A parsed log line. */
export interface LogLine {
  level: number;
  msg?: string;
  [field: string]: unknown;
}

/** The operator's token in every test app. */
export const opsToken = 'operator-of-the-test-app-with-32-characters';

/** Starts services; `environment` adds to or replaces the test settings. */
export async function testApp(options: {
  services: readonly AnyService[];
  contracts: readonly Contract[];
  environment?: Record<string, string>;
  /** The program of the worker that parses large bodies; the default is none. */
  bodyWorker?: URL;
  /** The clock of the services; the default is the machine's. MongoDB always uses its own clock. */
  now?: () => Date;
}): Promise<TestApp> {
  // imported here, because many users of the test kit need only its HTTP client
  const [{ default: mongoose }, { memoryBus, toTopology }, { createLog, start }, { createView }] =
    await Promise.all([
      import('mongoose'),
      import('#libs/events'),
      import('#libs/service'),
      import('#libs/store'),
    ]);
  const mongo = await testMongo();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const uri = withDatabase(mongo.uri, name);
  const client = await mongoose.mongo.MongoClient.connect(uri);
  const environment = {
    MONGODB_URI: uri,
    PORT: '0',
    MANAGEMENT_PORT: '0',
    HOST: '127.0.0.1',
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    RATE_LIMIT_PER_MINUTE: '0',
    REGISTRATIONS_PER_HOUR: '0',
    LOGINS_PER_MINUTE: '0',
    LOGIN_FAILURES_PER_15_MINUTES: '0',
    EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '0',
    DRAIN_SECONDS: '2',
    DEFAULT_PLAN: 'scale',
    OPS_TOKEN: opsToken,
    OPS_TOKEN_FAILURES_PER_MINUTE: '0',
    WEBHOOK_ALLOW_INSECURE_TARGETS: 'true',
    ...options.environment,
  };
  const secrets = secretScanner();
  for (const key of environment.ENCRYPTION_KEYS.split(',')) secrets.add(key);
  for (const secret of [environment.OPS_TOKEN, new URL(uri).password]) secrets.add(secret);
  const lines: string[] = [];
  const collector = { write: (line: string) => void lines.push(line) };
  const printLevel = process.env.TEST_LOG_LEVEL;
  // collects every line, because `stop` searches all of them for secrets
  const to = printLevel ? withPrinting(collector, printLevel) : collector;
  const log = createLog({ level: 'trace', format: 'json', destination: to });
  const startServices = () =>
    start({
      ...options,
      environment,
      apiPrefix: '/api/v1',
      // without this bus, services that do not run here would require a broker
      ...(!('AMQP_URL' in environment) && { bus: memoryBus(toTopology(options.contracts)) }),
      log,
    });
  // services wait for the views that they read; views of services that do not run here are created empty
  const running = options.services.map(({ contract }) => contract);
  const owned = new Set(running.flatMap(({ views }) => views));
  const absent = running.flatMap(({ reads }) => reads).filter((view) => !owned.has(view));
  for (const view of absent) await createView(client.db(), view);
  let started = await startServices();
  const replicas = new Set<{ stop(): Promise<void> }>();
  const app: TestApp = {
    origin: `http://127.0.0.1:${started.port}`,
    management: `http://127.0.0.1:${started.managementPort}`,
    db: client.db(),
    secrets,
    logLines: () => lines.map((line) => JSON.parse(line)),
    request: apiClient(() => app.origin, { secrets }).request,
    async restart() {
      await started.stop();
      started = await startServices();
      app.origin = `http://127.0.0.1:${started.port}`;
      app.management = `http://127.0.0.1:${started.managementPort}`;
    },
    async replica() {
      const replica = await startServices();
      replicas.add(replica);
      const management = `http://127.0.0.1:${replica.managementPort}`;
      const stop = async () => {
        replicas.delete(replica);
        await replica.stop();
      };
      return { ...apiClient(`http://127.0.0.1:${replica.port}`, { secrets }), management, stop };
    },
    async stop() {
      await withDeadline(
        'Stopping the services',
        Promise.all([started, ...replicas].map((instance) => instance.stop())),
      );
      await withDeadline('Dropping the database', client.db().dropDatabase());
      await client.close();
      await withDeadline('Stopping MongoDB', mongo.stop());
      const leaks = secrets.findLeaks(lines);
      if (leaks.length > 0) throw new Error(`Secrets were logged:\n${leaks.join('')}`);
    },
  };
  return app;
}

/** Rejects with an error that names the step, before the time limit of the hook, which does not name it. */
async function withDeadline(name: string, ending: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const limitMs = 100_000 * slowness;
  const timer = setTimeout(() => late.reject(new Error(`${name} took more than ${limitMs} ms`)), limitMs);
  await Promise.race([ending, late.promise]).finally(() => clearTimeout(timer));
}

/** Also prints the lines that have at least this level to stderr. */
function withPrinting(to: { write(line: string): void }, level: string) {
  const minLevel = levels[level] ?? 0;
  return {
    write(line: string) {
      to.write(line);
      if (JSON.parse(line).level >= minLevel) process.stderr.write(line);
    },
  };
}

const levels: Record<string, number> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, silent: 99 };

function withDatabase(uri: string, name: string): string {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  if (url.username && !url.searchParams.has('authSource')) url.searchParams.set('authSource', 'admin');
  return url.href;
}
