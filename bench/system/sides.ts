/** The three systems that are compared: the service, the baseline and an ordinary service. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import jwt from 'jsonwebtoken';
import { newId } from '#libs/contract';
import { hasPendingWork } from '#libs/testing';
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

/** How the service runs: as `npm start` runs it, or as in a cluster, with RabbitMQ. They differ in their log, too. */
export type Mode = 'one process' | 'five processes';

/** Starts the three systems with a new database. */
export async function startSystems(mongoUri: string, mode: Mode): Promise<Systems> {
  const isOne = mode === 'one process';
  const settings = { LOG_LEVEL: 'info', LOG_FORMAT: isOne ? 'pretty' : 'json' };
  const startService = isOne ? undefined : startFiveProcesses;
  const fixture = await createFixture({ mongoUri, settings, startService });
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
          brokerPid: service.brokerPid,
          async isSettled() {
            if (await hasPendingWork(fixture.db)) return false;
            // consumers may still handle an event that the broker has confirmed
            if (!isOne) await pause(500);
            return isOne || !(await hasPendingWork(fixture.db));
          },
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

/** The requests of one batch for each system. */
export type SystemBatch = Record<SideName, RequestSource>;
