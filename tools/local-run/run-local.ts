/** The local run: all services in one process, with a local MongoDB, generated secrets and a demo organization. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import {
  commonSettings,
  createBufferedLog,
  formatError,
  onStopSignal,
  type RunningServices,
  readSettings,
  type StartOptions,
  start,
} from '#libs/service';
import { system } from '../../services/contracts.ts';
import { services } from '../../services/services.ts';
import { logFile } from '../mongod/data-dir.ts';
import type { Mongod } from '../mongod/mongod.ts';
import { activeSettings, formatBanner } from './banner.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { seedDemo } from './demo.ts';
import { writeInstanceFile } from './instance-file.ts';

const loopback = '127.0.0.1';

const logSettings = commonSettings.pick({ LOG_LEVEL: true, LOG_FORMAT: true });

/** What has been started so far and must be stopped. */
interface LocalParts {
  mongod?: Mongod;
  started?: RunningServices;
  /** Writes the buffered log lines. */
  releaseLog?: () => void;
  removeInstanceFile?: () => Promise<void>;
}

/** What a local run is started with. */
export interface LocalRunOptions {
  environment: StartOptions['environment'];
  dataDir: string;
  /** The starting MongoDB with the data in `dataDir`. */
  mongod: Promise<Mongod>;
  /** The address that the API listens on, by default loopback. Other addresses are for containers only. */
  host?: string;
}

/** Runs all services with the data in `dataDir`. Only this run has permissive defaults. */
export async function runLocal({
  environment: given,
  dataDir,
  mongod,
  host = loopback,
}: LocalRunOptions): Promise<void> {
  // links contain the port, so it must be known before the services start
  const environment = given.PORT === '0' ? { ...given, PORT: await findFreePort(host) } : given;
  const parts: LocalParts = {};
  let isStopping = false;
  const stop = async () => {
    isStopping = true;
    parts.releaseLog?.();
    await parts.removeInstanceFile?.();
    await parts.started?.stop();
    await parts.mongod?.stop();
  };
  onStopSignal(stop);
  try {
    parts.mongod = await mongod;
    parts.mongod.ended.then(async () => {
      if (isStopping) return;
      process.stderr.write(`MongoDB has ended unexpectedly: see ${logFile(dataDir)}. The services stop.\n`);
      await stop();
      process.exit(1);
    });
    const dataFolder = await openDataFolder(dataDir);
    const local = toLocalEnvironment(environment, dataFolder, { host, uri: parts.mongod.uri });
    const settings = readAllSettings(local);
    const { LOG_LEVEL: level, LOG_FORMAT: format } = logSettings.parse(settings);
    // the log is held back until the banner is printed
    const { log, release } = createBufferedLog({ level, format });
    parts.releaseLog = release;
    parts.started = await start({ services, ...system, environment: local, log });
    parts.removeInstanceFile = await writeInstanceFile(dataDir, parts.started);
    const origin = `http://127.0.0.1:${parts.started.port}`;
    const active = activeSettings.parse(settings);
    const appUrl = environment.APP_URL ?? origin;
    const isRegistrationOpen = active.REGISTRATION === 'open';
    const base = `${origin}/api/v1`;
    // the service is useful without the demo organization
    const demo = await seedDemo(dataFolder, { base, appUrl, isRegistrationOpen }).catch((error: unknown) => {
      process.stderr.write(`${formatError(error)}\n`);
      return undefined;
    });
    const inContainer = host !== loopback;
    const text = formatBanner({
      // the port of a container may be published as another one
      base: `${inContainer ? appUrl : origin}/api/v1`,
      demo,
      management: `http://127.0.0.1:${parts.started.managementPort}`,
      database: parts.mongod.origin,
      dataDir,
      inContainer,
      settings: active,
    });
    process.stdout.write(text);
    release();
  } catch (error) {
    parts.releaseLog?.();
    process.stderr.write(`${formatError(error)}\n`);
    await stop();
    process.exit(1);
  }
}

async function findFreePort(host: string): Promise<string> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(typeof address === 'object' && address?.port);
}

/**
 * The settings of the process and all its services as one object. Throws an error that lists all invalid
 * settings.
 */
function readAllSettings(environment: StartOptions['environment']): Record<string, unknown> {
  const schemas = [commonSettings, ...services.map((service) => service.settings)];
  return Object.assign({}, ...readSettings(schemas, environment));
}

/**
 * The environment of a local run: permissive defaults and generated secrets, overridden by `environment`.
 * The addresses to listen on and MONGODB_URI are fixed.
 */
export function toLocalEnvironment(
  environment: StartOptions['environment'],
  dataFolder: Pick<DataFolder, 'secrets'>,
  { uri, host }: { uri: string; host: string },
): StartOptions['environment'] {
  return {
    DEFAULT_PLAN: 'scale',
    WEBHOOK_ALLOW_INSECURE_TARGETS: 'true',
    RATE_LIMIT_PER_MINUTE: '0',
    REGISTRATIONS_PER_HOUR: '0',
    LOGINS_PER_MINUTE: '0',
    LOGIN_FAILURES_PER_15_MINUTES: '0',
    EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '0',
    LOG_FORMAT: 'pretty',
    DRAIN_SECONDS: '3',
    ...(/^[1-9]\d*$/.test(environment.PORT ?? '') && { APP_URL: `http://127.0.0.1:${environment.PORT}` }),
    ...dataFolder.secrets,
    ...environment,
    HOST: host,
    MANAGEMENT_HOST: loopback,
    MONGODB_URI: new URL('/process_documents', uri).href + new URL(uri).search,
  };
}
