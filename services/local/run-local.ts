/** The local run: an embedded MongoDB, secrets and a demo organization around all services in one process. */
import { resolve } from 'node:path';
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
import { type Mongod, startMongod } from '#libs/store';
import { banner, settingsInForce } from './banner.ts';
import { type Home, openHome } from './data-folder.ts';
import { seedDemo } from './demo.ts';
import { writeInstanceFile } from './instance-file.ts';

const logSettings = commonSettings.pick({ LOG_LEVEL: true, LOG_FORMAT: true });

/** What has been started so far, to be stopped again. */
interface LocalParts {
  mongod?: Mongod;
  started?: RunningServices;
  /** Writes the log lines that were held back. */
  releaseLog?: () => void;
  removeInstanceFile?: () => Promise<void>;
}

/** Runs all services over an embedded MongoDB in `DATA_DIR`; loose defaults hold here and nowhere else. */
export async function runLocal(options: StartOptions): Promise<void> {
  const dataDir = resolve(options.environment.DATA_DIR ?? '.data');
  const up: LocalParts = {};
  const stop = async () => {
    up.releaseLog?.();
    await up.removeInstanceFile?.();
    await up.started?.stop();
    await up.mongod?.stop();
  };
  onStopSignal(stop);
  try {
    up.mongod = await startMongod({ dataDir, say: (line) => process.stderr.write(`${line}\n`) });
    const home = await openHome(dataDir);
    const environment = localEnvironment(options.environment, home, up.mongod.uri);
    const settings = allSettings(options, environment);
    const { LOG_LEVEL: level, LOG_FORMAT: format } = logSettings.parse(settings);
    // the banner comes first, then the lines of the start and of seeding the demo organization
    const { log, release } = createBufferedLog({ level, format });
    up.releaseLog = release;
    up.started = await start({ ...options, environment, log });
    up.removeInstanceFile = await writeInstanceFile(dataDir, up.started);
    const origin = `http://127.0.0.1:${up.started.port}`;
    const demo = await seedDemo(home, `${origin}/api/v1`, options.environment.APP_URL ?? origin);
    const text = banner({
      ...demo,
      base: `${origin}/api/v1`,
      management: `http://127.0.0.1:${up.started.managementPort}`,
      database: up.mongod.how,
      dataDir,
      settings: settingsInForce.parse(settings),
    });
    process.stdout.write(text);
    release();
  } catch (error) {
    up.releaseLog?.();
    process.stderr.write(`${reasonOf(error, dataDir)}\n`);
    await stop();
    process.exit(1);
  }
}

/** The settings of the process and of all its services as one object; rejects with every mistake. */
function allSettings(
  { services }: StartOptions,
  environment: StartOptions['environment'],
): Record<string, unknown> {
  const shapes = [commonSettings, ...services.map((service) => service.settings)];
  return Object.assign({}, ...readSettings(shapes, environment));
}

function reasonOf(error: unknown, dataDir: string): string {
  const isRunning = error instanceof Error && 'code' in error && error.code === 'data_dir_in_use';
  if (!isRunning) return formatError(error);
  return `The service is running already with the data in ${dataDir}: use that one, or stop it first (or set DATA_DIR to another folder).`;
}

/** The environment of a local run: what was given wins over the loose defaults. */
export function localEnvironment(
  given: StartOptions['environment'],
  home: Pick<Home, 'secrets'>,
  uri: string,
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
    ...(/^[1-9]\d*$/.test(given.PORT ?? '') && { APP_URL: `http://127.0.0.1:${given.PORT}` }),
    ...home.secrets,
    ...given,
    HOST: '127.0.0.1',
    MONGODB_URI: new URL('/process_documents', uri).href + new URL(uri).search,
  };
}
