/** A world: services running in this process on free ports, over a real MongoDB and a database of their own. */
import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import type { Contract } from '#libs/contract';
import { memoryBus, toTopology } from '#libs/events';
import { type AnyService, createLog, start } from '#libs/service';
import { createView } from '#libs/store';
import { idempotencyHeader } from './idempotency-keys.ts';
import { type SecretWatch, secretWatch } from './secrets.ts';
import { testMongo } from './servers.ts';

/** A request to the world. */
export interface TestRequest {
  /** Bearer token or API key. */
  as?: string | undefined;
  /** Sent as JSON; text and form data as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** An answer: `body` is parsed when it is JSON, bytes otherwise. */
export interface TestResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
  bytes: Uint8Array;
}

export interface TestApp {
  /** Origin of the API, e.g. `http://127.0.0.1:40123`. */
  origin: string;
  management: string;
  /** The world's own database. */
  db: mongoose.mongo.Db;
  /** Asks the API; paths start behind `/api/v1` unless they start with `/embed` or are `/`. */
  request(method: string, path: string, asked?: TestRequest): Promise<TestResponse>;
  /** What the services have logged so far, whatever the level. */
  logLines(): LogLine[];
  /** The secrets that must not be logged: all that were sent or given through `ask`, and those of the settings. */
  secrets: SecretWatch;
  /** Stops the services, and starts them again over the same database. */
  restart(): Promise<void>;
  /** Starts the same services once more over the same database, with a bus of their own; stops with the world. */
  replica(): Promise<Pick<TestApp, 'request'>>;
  /** Stops everything; rejects when a secret was logged. */
  stop(): Promise<void>;
}

/** A line of the log. */
export interface LogLine {
  level: number;
  msg?: string;
  [field: string]: unknown;
}

/** The operator's token in every world. */
export const opsToken = 'operator-of-the-test-world';

/** Starts services; `environment` adds to the settings. */
export async function testApp(options: {
  services: readonly AnyService[];
  contracts: readonly Contract[];
  environment?: Record<string, string>;
  /** The services' clock, if not the machine's; MongoDB keeps its own. */
  now?: () => Date;
}): Promise<TestApp> {
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
    WEBHOOK_ALLOW_INSECURE_TARGETS: 'true',
    ...options.environment,
  };
  const secrets = secretWatch();
  for (const key of environment.ENCRYPTION_KEYS.split(',')) secrets.know(key);
  for (const secret of [environment.OPS_TOKEN, new URL(uri).password]) secrets.know(secret);
  const lines: string[] = [];
  const to = { write: (line: string) => void lines.push(line) };
  const shown = process.env.TEST_LOG_LEVEL;
  // everything is kept, and looked through at the end; a person at the terminal may see some of it
  const log = createLog({ level: 'trace', format: 'json', destination: shown ? withShown(to, shown) : to });
  const begin = () =>
    start({
      ...options,
      environment,
      apiPrefix: '/api/v1',
      // services that are not in the world would be missed otherwise
      ...(!('AMQP_URL' in environment) && { bus: memoryBus(toTopology(options.contracts)) }),
      log,
    });
  // services wait for the views that they read: those of services that are not here have no rows
  const here = options.services.map(({ contract }) => contract);
  const owned = new Set(here.flatMap(({ views }) => views));
  const absent = here.flatMap(({ reads }) => reads).filter((view) => !owned.has(view));
  for (const view of absent) await createView(client.db(), view);
  /** Asks an origin; what is secret in it is remembered. */
  const watched = async (origin: string, ...[method, path, asked]: Parameters<TestApp['request']>) => {
    secrets.know(asked?.as);
    secrets.knowWithin(asked?.body);
    const told = await ask(origin, method, path, asked);
    secrets.knowWithin(told.body);
    return told;
  };
  let started = await begin();
  const replicas: { stop(): Promise<void> }[] = [];
  const made: TestApp = {
    origin: `http://127.0.0.1:${started.port}`,
    management: `http://127.0.0.1:${started.managementPort}`,
    db: client.db(),
    secrets,
    logLines: () => lines.map((line) => JSON.parse(line)),
    request: (...args) => watched(made.origin, ...args),
    async restart() {
      await started.stop();
      started = await begin();
      made.origin = `http://127.0.0.1:${started.port}`;
      made.management = `http://127.0.0.1:${started.managementPort}`;
    },
    async replica() {
      const replica = await begin();
      replicas.push(replica);
      return { request: (...args) => watched(`http://127.0.0.1:${replica.port}`, ...args) };
    },
    async stop() {
      await soon('the services', Promise.all([started, ...replicas].map((one) => one.stop())));
      await soon('the database', client.db().dropDatabase());
      await client.close();
      await soon('MongoDB', mongo.stop());
      const found = secrets.foundIn(lines);
      if (found.length > 0) throw new Error(`Secrets were logged:\n${found.join('')}`);
    },
  };
  return made;
}

/** Rejects with what it was that did not end in time, before a hook of a test is over and says nothing. */
async function soon(what: string, ending: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => late.reject(new Error(`${what} had not ended after 25 s`)), 25_000);
  await Promise.race([ending, late.promise]).finally(() => clearTimeout(timer));
}

/** Shows lines from a level on, too. */
function withShown(to: { write(line: string): void }, level: string) {
  const least = levels[level] ?? 0;
  return {
    write(line: string) {
      to.write(line);
      if (JSON.parse(line).level >= least) process.stderr.write(line);
    },
  };
}

const levels: Record<string, number> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, silent: 99 };

async function ask(
  origin: string,
  method: string,
  path: string,
  { as, body, headers }: TestRequest = {},
): Promise<TestResponse> {
  const asIs =
    body === undefined || typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array;
  const isAtRoot = path === '/' || path.startsWith('/embed');
  const response = await fetch(origin + (isAtRoot ? path : `/api/v1${path}`), {
    method,
    redirect: 'manual',
    headers: {
      ...idempotencyHeader(method, as),
      ...(as && { authorization: `Bearer ${as}` }),
      ...(asIs ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: ((asIs ? body : JSON.stringify(body)) as RequestInit['body']) ?? null,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
  const text = isJson && bytes.length > 0 ? JSON.parse(new TextDecoder().decode(bytes)) : bytes;
  return { status: response.status, headers: response.headers, body: text, bytes };
}

function withDatabase(uri: string, name: string): string {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  if (url.username && !url.searchParams.has('authSource')) url.searchParams.set('authSource', 'admin');
  return url.href;
}
