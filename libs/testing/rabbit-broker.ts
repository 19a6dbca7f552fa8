/** One RabbitMQ of a test's own, from the programs of the distribution: any user, loopback only, several side by side. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { connect } from 'amqplib';
import { freePorts } from './ports.ts';
import { until } from './until.ts';

/** A broker that a test may hurt. */
export interface RabbitBroker {
  /** Address with the user `guest` and the vhost `/`. */
  url: string;
  /** Stops and continues it as it is: its connections stay half open. */
  freeze(): void;
  thaw(): void;
  /**
   * Makes it write down which queues it has. RabbitMQ 3.10 does so seconds after it has made one: when it is killed
   * before, the queue is there afterwards and confirms nothing.
   */
  settle(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again at the same address, with what it had on its disk or as a new one. */
  start(how?: { empty: boolean }): Promise<void>;
  /** Runs `rabbitmqctl` and gives what it prints. */
  ctl(...args: string[]): Promise<string>;
  /** Stops it and its epmd and removes everything; may be called twice. */
  stop(): Promise<void>;
}

const startMs = 60_000;

/** Starts a broker with the programs in a folder (`…/sbin`), which goes at the latest with this process. */
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
    // the keeper kills it as soon as its stdin closes
    current.keeper.stdin?.end();
    await current.gone;
  };
  const broker: RabbitBroker = {
    url,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    kill,
    async start({ empty } = { empty: false }) {
      await kill();
      if (empty) await rm(join(folder, 'data'), { recursive: true, force: true });
      running = await spawnServer(join(programs, 'rabbitmq-server'), environment, join(folder, 'out'));
      const { gone } = running;
      let ended = false;
      void gone.then(() => {
        ended = true;
      });
      await until(
        'RabbitMQ to start',
        async () => {
          if (ended) throw new Error(`RabbitMQ ended: ${await readFile(join(folder, 'out'), 'utf8')}`);
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

/** Waits until stdin closes, for whatever reason, then kills the server and its epmd: a SIGKILL of the test leaves no orphan. */
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
  if (!keeper.stdout) throw new Error('The keeper has a stdout');
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
    // half a gigabyte of disk is not ours to ask for
    'disk_free_limit.absolute = 1MB\nlog.file.level = warning\nloopback_users = none\n',
  );
  return {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: folder,
    // the server takes the place of its script, so that its process id is known
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

/** Whether a broker answers at an address. */
export async function canConnect(url: string): Promise<boolean> {
  try {
    const connection = await connect(url, { timeout: 2_000 });
    connection.on('error', () => {});
    await connection.close();
    return true;
  } catch {
    return false;
  }
}
