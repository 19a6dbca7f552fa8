/** A RabbitMQ broker for one test, from installed programs; runs as any user, on loopback, next to others. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePorts } from './ports.ts';
import { slowness, until } from './until.ts';

/** A broker that a test may freeze, kill and restart. */
export interface RabbitBroker {
  /** URL with the user `guest` and the vhost `/`. */
  url: string;
  /** The id of the running process. */
  pid(): number;
  /** Suspends the broker (SIGSTOP); its connections stay half open. Resolves when it has stopped. */
  freeze(): Promise<void>;
  /** Continues a frozen broker (SIGCONT). */
  thaw(): void;
  /**
   * Flushes the queue metadata to disk. RabbitMQ 3.10 does so some seconds after it created a queue. If it is
   * killed earlier, the queue exists after the restart but confirms no messages.
   */
  settle(): Promise<void>;
  /** Kills the broker (SIGKILL); resolves when it has exited. */
  kill(): Promise<void>;
  /** Starts the broker at the same address, with its data or, if `empty`, without. */
  start(options?: { empty: boolean }): Promise<void>;
  /** Runs `rabbitmqctl` and returns its stdout. */
  ctl(...args: string[]): Promise<string>;
  /** Stops the broker and its epmd and removes its data; may be called twice. */
  stop(): Promise<void>;
}

const startMs = 60_000;

/** Starts a broker from the programs in a folder (`…/sbin`); it is killed at the latest with this process. */
export async function startBroker(programs: string): Promise<RabbitBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-rabbit-'));
  const [port, distribution, epmd] = await freePorts(3);
  const environment = await createEnvironment(folder, { port, distribution, epmd });
  const url = `amqp://guest:guest@127.0.0.1:${port}/`;
  let running: Awaited<ReturnType<typeof spawnServer>> | undefined;

  const signal = (name: NodeJS.Signals) => {
    if (running) process.kill(running.pid, name);
  };
  const kill = async () => {
    const current = running;
    running = undefined;
    if (!current) return;
    // the keeper kills the server when its stdin closes
    current.keeper.stdin?.end();
    await current.gone;
  };
  const broker: RabbitBroker = {
    url,
    pid: () => running?.pid ?? 0,
    async freeze() {
      signal('SIGSTOP');
      // it stops a moment after the signal; until then, it may still confirm an event
      await until('the broker to stop', async () => {
        const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=', '-p', String(running?.pid)]);
        return stdout.startsWith('T');
      });
    },
    thaw: () => signal('SIGCONT'),
    kill,
    async start({ empty } = { empty: false }) {
      await kill();
      if (empty) await rm(join(folder, 'data'), { recursive: true, force: true });
      running = await spawnServer(join(programs, 'rabbitmq-server'), environment, join(folder, 'out'));
      const { gone } = running;
      let hasExited = false;
      void gone.then(() => {
        hasExited = true;
      });
      await until(
        'RabbitMQ to start',
        async () => {
          if (hasExited) throw new Error(`RabbitMQ exited: ${await readFile(join(folder, 'out'), 'utf8')}`);
          return canConnect(url);
        },
        startMs,
      );
    },
    async ctl(...args) {
      const { stdout } = await promisify(execFile)(join(programs, 'rabbitmqctl'), args, { env: environment });
      return stdout;
    },
    async settle() {
      await broker.ctl('eval', 'lists:foreach(fun dets:sync/1, dets:all()), mnesia:dump_log().');
    },
    async stop() {
      await kill();
      await promisify(execFile)('epmd', ['-port', String(epmd), '-kill'], { env: environment }).catch(
        () => {},
      );
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    await broker.start();
  } catch (error) {
    await broker.stop();
    throw error;
  }
  return broker;
}

/** Kills server and epmd when stdin closes, so that they also end if the test process is killed (SIGKILL). */
const keeperScript =
  '"$0" </dev/null >"$1" 2>&1 & echo $!; cat >/dev/null; kill -KILL $!; wait; epmd -kill >/dev/null 2>&1';

async function spawnServer(program: string, env: NodeJS.ProcessEnv, out: string) {
  const keeper: ChildProcess = spawn('/bin/sh', ['-c', keeperScript, program, out], {
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  keeper.stdin?.on('error', () => {});
  const gone = once(keeper, 'exit');
  if (!keeper.stdout) throw new Error('The keeper has no stdout');
  const [line] = await once(createInterface(keeper.stdout), 'line');
  return { pid: Number(line), keeper, gone };
}

async function createEnvironment(
  folder: string,
  ports: Record<'port' | 'distribution' | 'epmd', number | undefined>,
): Promise<NodeJS.ProcessEnv> {
  await mkdir(join(folder, 'conf'));
  await writeFile(join(folder, 'plugins'), '[].');
  await writeFile(
    join(folder, 'conf', 'rabbitmq.conf'),
    // tests must also run on a nearly full disk
    'disk_free_limit.absolute = 1MB\nlog.file.level = warning\nloopback_users = none\n',
  );
  return {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: folder,
    // the script replaces itself by the server (exec), so the process id is known
    RUNNING_UNDER_SYSTEMD: 'true',
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_RELAXED_COMMAND_CHECK: 'true',
    RABBITMQ_NODENAME: `pds-${randomBytes(4).toString('hex')}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(ports.port),
    RABBITMQ_DIST_PORT: String(ports.distribution),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_CONFIG_FILE: join(folder, 'conf', 'rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: join(folder, 'conf', 'env'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(folder, 'conf', 'generated'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none',
  };
}

/** Whether a broker accepts connections at a URL. */
export async function canConnect(url: string): Promise<boolean> {
  try {
    const { connect } = await import('amqplib');
    const connection = await connect(url, { timeout: 20_000 * slowness });
    connection.on('error', () => {});
    await connection.close();
    return true;
  } catch {
    return false;
  }
}
