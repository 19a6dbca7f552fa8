/** Starts a monitored system: the services with their servers, a volume, and Prometheus with rules sped up 60 times. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, type MongoReplicaSet, ownMongo, ownRabbit, type RabbitBroker } from '#libs/testing';
import { rules } from '../../scripts/monitoring/rules.ts';
import { accelerate } from '../../scripts/monitoring/time-scale.ts';
import { localSettings } from '../five-processes.ts';
import { runScript, type SupervisedProgram, stopProgram, supervise } from '../programs.ts';
import { expectAlerts, type FaultScenario } from './alert-checks.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { mountVolume, type Volume } from './volume.ts';

/** The parts that a test can break, and the Prometheus that monitors them. */
export interface MonitoringFixture {
  origin: string;
  folder: string;
  mongo: MongoReplicaSet;
  rabbit: RabbitBroker;
  volume: Volume;
  /** The process with all five services. */
  run: SupervisedProgram;
  /** A second process of export. It consumes no events, so nothing depends on it. */
  secondExport: SupervisedProgram;
  /** Start time of the second export process according to Prometheus, Unix seconds. */
  getSecondExportStart(): Promise<number | undefined>;
  prometheus: Prometheus;
  /** Names of the alerts that fired after their fault. */
  firedAlerts: ReadonlySet<string>;
  /** Causes a fault and waits until all of these alerts fire, none of them before. */
  expectAlerts(names: readonly string[], by: FaultScenario): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the system. Returns undefined if Prometheus or the exporter is missing and not required. */
export async function monitoringFixture(): Promise<MonitoringFixture | undefined> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  const stopLater = async <T extends { stop(): Promise<void> } | undefined>(starting: Promise<T>) => {
    const started = await starting;
    if (started) stops.push(() => started.stop());
    return started;
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'pds-monitoring-'));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    const starting = [stopLater(ownMongo()), stopLater(ownRabbit()), stopLater(mountVolume())] as const;
    // wait for every start, also for failed ones, before anything is stopped
    await Promise.allSettled(starting);
    const [mongo, rabbit, volume] = await Promise.all(starting);
    const ports = await freePorts(4);
    const common = createEnvironment(mongo, rabbit);
    const startProcess = async (main: string, at: number) => {
      const own = { PORT: `${ports[at]}`, MANAGEMENT_PORT: `${ports[at + 1]}` };
      const launch = () => runScript(`../services/${main}`, [], { ...common, ...own });
      const program = await supervise({ name: main, launch, ready: /^\{.*"msg":"Ready"\}$/m });
      stops.push(() => stopProgram(program));
      return program;
    };
    const starts = [startProcess('all.ts', 0), startProcess('export/main.ts', 2)] as const;
    await Promise.allSettled(starts);
    const [run, secondExport] = await Promise.all(starts);
    const [target, secondTarget] = [`127.0.0.1:${ports[1]}`, `127.0.0.1:${ports[3]}`];
    // one minute of a rule takes one second
    const options = { targets: [target, secondTarget], rules: rules(accelerate(60, 5)) };
    const prometheus = volume && (await stopLater(startPrometheus({ ...options, volume })));
    if (!prometheus) return void (await stop());
    const firedAlerts = new Set<string>();
    const servers = { origin: `http://127.0.0.1:${ports[0]}`, folder, mongo, rabbit, volume };
    return {
      ...{ ...servers, run, secondExport, prometheus, firedAlerts, stop },
      async getSecondExportStart() {
        const [found] = await prometheus.query(`process_start_time_seconds{instance="${secondTarget}"}`);
        return found?.value;
      },
      async expectAlerts(names, scenario) {
        await expectAlerts(prometheus, names, scenario);
        for (const name of names) firedAlerts.add(name);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createEnvironment(mongo: MongoReplicaSet, rabbit: RabbitBroker) {
  return {
    ...localSettings,
    ...{ HOST: '127.0.0.1', AMQP_URL: rabbit.url, MONGODB_URI: mongo.uri.replace('/?', '/operating?') },
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    ...{ RATE_LIMIT_PER_MINUTE: '0', REGISTRATIONS_PER_HOUR: '0', LOGINS_PER_MINUTE: '0' },
    ...{ WEBHOOK_TIMEOUT_SECONDS: '2', WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.1,0.1', EXPORT_MAX_QUEUE: '0' },
  };
}
