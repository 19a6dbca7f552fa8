/** The three systems that are compared: the service, the baseline and an ordinary service. */
import { randomBytes } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { newId } from '#libs/contract';
import { hasPendingWork, type RabbitBroker } from '#libs/testing';
import { type BenchFixture, createFixture } from '../fixture.ts';
import type { Client, RequestSource } from '../load.ts';
import { type BenchProcess, start } from '../processes.ts';
import { startFiveProcesses } from './five-processes.ts';

/** The names of the systems. */
export const sideNames = ['baseline', 'app', 'service'] as const;
export type SideName = (typeof sideNames)[number];

/** A running system. */
export interface SystemSide {
  client: Client;
  /** Its processes, without MongoDB and RabbitMQ. */
  pids: readonly number[];
  brokerPid?: number | undefined;
  /** Returns whether all work that its requests caused is done. */
  isSettled(): Promise<boolean>;
}

/** Running systems on one database. */
export interface Systems {
  fixture: BenchFixture;
  sides: Record<SideName, SystemSide>;
  mongodPid: number;
  /** The access token of the app's only user. */
  appToken: string;
  stop(): Promise<void>;
}

/** The app's only user and their organization. */
export const [appUser, appOrganization] = [newId(), newId()];

/**
 * Starts the three systems with a new database. The service runs as `npm start` runs it or, with a broker, as in a
 * cluster: a process for each service. The log format differs, too.
 */
export async function startSystems(mongoUri: string, rabbit?: RabbitBroker): Promise<Systems> {
  const fixture = await createFixture({
    mongoUri,
    settings: { LOG_LEVEL: 'info', LOG_FORMAT: rabbit ? 'json' : 'pretty' },
    startService: rabbit && ((settings) => startFiveProcesses(rabbit, settings)),
  });
  const secret = randomBytes(32).toString('hex');
  let app: BenchProcess | undefined;
  const stop = async () => {
    await app?.stop();
    await fixture.close();
  };
  try {
    app = await start({
      file: 'bench/system/app.ts',
      readyPath: '/ready',
      environment: (port) => ({ PORT: String(port), MONGODB_URI: fixture.uri, JWT_SECRET: secret }),
    });
    const { service, baseline } = fixture.processes;
    const { pid } = await fixture.db.admin().serverStatus();
    return {
      fixture,
      sides: {
        baseline: {
          client: fixture.clients.baseline,
          pids: [baseline.pid],
          isSettled: async () =>
            (await fixture.db.collection('baseline_outbox').findOne({ pending: true })) === null,
        },
        app: { client: fixture.connect(app.origin), pids: [app.pid], isSettled: async () => true },
        service: {
          client: fixture.clients.service,
          pids: service.pids ?? [service.pid],
          brokerPid: rabbit?.pid(),
          isSettled: async () =>
            !(await hasPendingWork(fixture.db)) && !(rabbit && (await hasMessages(rabbit))),
        },
      },
      mongodPid: Number(pid),
      appToken: jwt.sign({ org: appOrganization, sub: appUser }, secret),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether a queue has messages that are not acknowledged. */
async function hasMessages(rabbit: RabbitBroker): Promise<boolean> {
  const counts = await rabbit.ctl('list_queues', '--quiet', '--no-table-headers', 'messages');
  return counts.split('\n').some((count) => Number(count) > 0);
}

/** The requests of one batch for each system. */
export type SystemBatch = Record<SideName, RequestSource>;
