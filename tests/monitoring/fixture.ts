/** The stage of what is watched: the services over servers of their own, a volume, and a Prometheus with the rules at sixty times the pace. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, type MongoReplicaSet, ownMongo, ownRabbit, type RabbitBroker } from '#libs/testing';
import { rules } from '../../scripts/monitoring/rules.ts';
import { accelerated } from '../../scripts/monitoring/time-scale.ts';
import { localSettings } from '../five-processes.ts';
import { ended, type KeptProgram, kept as keptRunning, runScript } from '../programs.ts';
import { type Breaking, toldBy } from './alert-checks.ts';
import { type Prometheus, prometheus } from './prometheus.ts';
import { type Volume, volume } from './volume.ts';

/** Everything that may be broken, and who watches it. */
export interface OperatingStage {
  origin: string;
  folder: string;
  mongo: MongoReplicaSet;
  rabbit: RabbitBroker;
  volume: Volume;
  /** All five services. */
  run: KeptProgram;
  /** A second process of export, which hears no events and whose absence nobody notices. */
  beside: KeptProgram;
  /** When the process beside began, as Prometheus knows it, s. */
  besideBegan(): Promise<number | undefined>;
  watching: Prometheus;
  /** The alerts that were told of what breaks them. */
  told: ReadonlySet<string>;
  /** Breaks something and waits until all of these alerts are told, none of which is before. */
  tells(names: readonly string[], by: Breaking): Promise<void>;
  stop(): Promise<void>;
}

/** Sets it; nothing where Prometheus or the exporter is missing, and nobody wants everything tested. */
export async function operatingStage(): Promise<OperatingStage | undefined> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  const kept = async <T extends { stop(): Promise<void> } | undefined>(starting: Promise<T>) => {
    const started = await starting;
    if (started) stops.push(() => started.stop());
    return started;
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'pds-operating-'));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    const starting = [kept(ownMongo()), kept(ownRabbit()), kept(volume())] as const;
    // all of them have come to an end, well or not, before anything is stopped
    await Promise.allSettled(starting);
    const [mongo, rabbit, place] = await Promise.all(starting);
    const ports = await freePorts(4);
    const common = environmentOf(mongo, rabbit);
    const begin = async (main: string, at: number) => {
      const own = { PORT: `${ports[at]}`, MANAGEMENT_PORT: `${ports[at + 1]}` };
      const launch = () => runScript(`../services/${main}`, [], { ...common, ...own });
      const program = await keptRunning({ name: main, launch, ready: /^\{.*"msg":"Ready"\}$/m });
      stops.push(() => ended(program));
      return program;
    };
    const begun = [begin('all.ts', 0), begin('export/main.ts', 2)] as const;
    await Promise.allSettled(begun);
    const [run, beside] = await Promise.all(begun);
    const [target, targetBeside] = [`127.0.0.1:${ports[1]}`, `127.0.0.1:${ports[3]}`];
    // a night in a minute
    const watched = { targets: [target, targetBeside], rules: rules(accelerated(60, 5)) };
    const watching = place && (await kept(prometheus({ ...watched, volume: place })));
    if (!watching) return void (await stop());
    const told = new Set<string>();
    const there = { origin: `http://127.0.0.1:${ports[0]}`, folder, mongo, rabbit, volume: place };
    return {
      ...{ ...there, run, beside, watching, told, stop },
      async besideBegan() {
        const [found] = await watching.query(`process_start_time_seconds{instance="${targetBeside}"}`);
        return found?.value;
      },
      async tells(names, by) {
        await toldBy(watching, names, by);
        for (const name of names) told.add(name);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function environmentOf(mongo: MongoReplicaSet, rabbit: RabbitBroker) {
  return {
    ...localSettings,
    ...{ HOST: '127.0.0.1', AMQP_URL: rabbit.url, MONGODB_URI: mongo.uri.replace('/?', '/operating?') },
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    ...{ RATE_LIMIT_PER_MINUTE: '0', REGISTRATIONS_PER_HOUR: '0', LOGINS_PER_MINUTE: '0' },
    ...{ WEBHOOK_TIMEOUT_SECONDS: '2', WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.1,0.1', EXPORT_MAX_QUEUE: '0' },
  };
}
