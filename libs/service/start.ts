/** Starts services in one process and stops them in order. */
import type { Contract } from '#libs/contract';
import { type Bus, memoryBus, topologyOf } from '#libs/events';
import { application, type Done, listen, routes, tokenBucket } from '#libs/http';
import { openStore, type Store } from '#libs/store';
import { closed, closedTogether } from './closing.ts';
import { heard } from './hearing.ts';
import { type Log, newLog } from './log.ts';
import { type Management, management } from './management.ts';
import { type Metrics, newMetrics } from './metrics.ts';
import { prepared } from './prepare.ts';
import type { AnyService, Running } from './service.ts';
import { type CommonSettings, commonSettings, readSettings } from './settings.ts';
import { startTracing, type Tracing } from './tracing.ts';

/** What to start. */
export interface Start {
  services: readonly AnyService[];
  /** The contracts of the whole system, also of services that run elsewhere. */
  contracts: readonly Contract[];
  environment: Record<string, string | undefined>;
  apiPrefix: string;
  now?: () => Date;
  log?: Log;
}

/** Running services. */
export interface Started {
  port: number;
  managementPort: number;
  log: Log;
  /** Drains and stops everything; resolves when nothing is left. */
  stop(): Promise<void>;
}

interface Process extends Start {
  settings: CommonSettings;
  log: Log;
  now: () => Date;
  metrics: Metrics;
  tracing: Tracing;
  bus: Bus;
  /** Every store that was opened. */
  stores: Store[];
  /** Aborted when the start has failed: what still waits gives up. */
  failed: AbortController;
}

interface Up {
  service: AnyService;
  store: Store;
  running: Running;
}

/** Starts the services; rejects with every mistake of the settings, or when a port is taken. Waits for MongoDB. */
export async function start(of: Start): Promise<Started> {
  const [common, ...own] = readSettings(
    [commonSettings, ...of.services.map((service) => service.settings)],
    of.environment,
  );
  // the first shape gave the first result
  const settings = common as CommonSettings;
  const log = of.log ?? newLog({ level: settings.LOG_LEVEL, format: settings.LOG_FORMAT });
  const name = of.services.length === 1 ? (of.services[0]?.contract.name ?? '') : 'all-in-one';
  const tracing = await startTracing(settings.OTEL_EXPORTER_OTLP_ENDPOINT, name);
  const bus = memoryBus(topologyOf(of.contracts));
  const host: Process = {
    ...of,
    settings,
    log,
    tracing,
    bus,
    now: of.now ?? (() => new Date()),
    metrics: newMetrics(),
    stores: [],
    failed: new AbortController(),
  };
  try {
    return await serving(host, await begun(host, own));
  } catch (error) {
    host.failed.abort(error);
    await closed([
      () => bus.close(),
      ...host.stores.map((store) => () => store.close()),
      () => tracing.stop(),
    ]).catch((more: unknown) => log.warn({ err: more }, 'Not everything could be closed'));
    throw error;
  }
}

/** Opens the stores and lets the services say what they do. */
async function begun(host: Process, own: readonly unknown[]): Promise<Up[]> {
  const { services, log, failed } = host;
  const stores = await prepared(services, (service) => opened(host, service), log, failed.signal);
  const ups = services.map((service, at): Up => {
    const store = stores[at];
    if (!store) throw new Error(`${service.contract.name} has no store`);
    const given = {
      store,
      settings: own[at],
      log: log.child({ service: service.contract.name }),
      now: host.now,
    };
    return { service, store, running: service.start(given) };
  });
  for (const { running } of ups) await running.before?.();
  return ups;
}

async function opened(
  { contracts, settings, bus, now, tracing, log, stores, failed }: Process,
  service: AnyService,
): Promise<Store> {
  const store = await openStore({
    uri: settings.MONGODB_URI,
    contract: service.contract,
    collections: service.collections,
    topology: topologyOf(contracts),
    bus,
    alone: true,
    ring: settings.ENCRYPTION_KEY,
    now,
    trace: tracing.current,
    trouble: (what, error) => log.warn({ service: service.contract.name, err: error }, what),
  });
  if (failed.signal.aborted) await store.close();
  else stores.push(store);
  return store;
}

/** Opens the ports, then lets events and background work flow. */
async function serving(host: Process, ups: readonly Up[]): Promise<Started> {
  const { settings, log, bus, tracing } = host;
  const state = { draining: false };
  const api = await listen(publicApplication(host, ups), settings.PORT, settings.HOST);
  const health = managementApplication(host, ups, () => unready(ups, bus, state.draining));
  const managementPort = await listen(health, settings.MANAGEMENT_PORT, settings.HOST).catch(
    async (error: unknown) => {
      await api.close(0);
      throw error;
    },
  );
  try {
    for (const { service, running } of ups)
      if (running.listeners?.length)
        await bus.consume(service.contract.name, heard(host, service.contract.name, running.listeners), {
          prefetch: 32,
        });
  } catch (error) {
    await closed([() => api.close(0), () => managementPort.close(0)]);
    throw error;
  }
  for (const { store, running } of ups) {
    store.relay();
    for (const worker of running.workers ?? []) worker.start();
  }
  const workers = ups.flatMap(({ running }) => running.workers ?? []);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    state.draining = true;
    log.info('Stopping');
    await closed([
      () => api.close(settings.DRAIN_SECONDS * 1000),
      () => closedTogether(workers.map((worker) => () => worker.stop())),
      () => bus.close(),
      () =>
        closedTogether(
          ups.map(
            ({ store }) =>
              () =>
                store.close(),
          ),
        ),
      () => managementPort.close(0),
      () => tracing.stop(),
    ]);
    log.info('Stopped');
  };
  log.info({ port: api.port, managementPort: managementPort.port }, 'Ready');
  return {
    port: api.port,
    managementPort: managementPort.port,
    log,
    stop: () => (stopping ??= stop()),
  };
}

function publicApplication(host: Process, ups: readonly Up[]) {
  const { settings, log, apiPrefix } = host;
  const { REQUESTS_PER_MINUTE: perMinute, REQUESTS_BURST: burst } = settings;
  const limit =
    perMinute > 0 ? tokenBucket({ perMinute, burst, now: () => host.now().getTime() }) : undefined;
  return application({
    routers: ups.map((up) => routes({ ...answering(host, up), ...up.running, apiPrefix, limit })),
    operations: ups.flatMap(({ running }) => running.handled.map(({ operation }) => operation)),
    apiPrefix,
    trustedProxies: settings.TRUSTED_PROXIES,
    trouble: (what, error) => log.error({ err: error }, what),
  });
}

function managementApplication(host: Process, ups: readonly Up[], unready: Management['unready']) {
  const operated = ups.flatMap((up) => (up.running.operated ? [{ up, ...up.running.operated }] : []));
  return management({
    metrics: host.metrics,
    unready,
    routers: operated.map(({ up, ...by }) =>
      routes({ ...answering(host, up), ...by, apiPrefix: '', limit: undefined }),
    ),
    operations: operated.flatMap(({ handled }) => handled.map(({ operation }) => operation)),
    trouble: (what, error) => host.log.error({ err: error }, what),
  });
}

/** What routes need of their process and their service, whoever calls them. */
function answering({ log, metrics, tracing }: Process, { service, store }: Up) {
  return {
    store,
    span: tracing.span,
    done({ principal, error, ...done }: Done) {
      metrics.request({ ...done, principal });
      const who = { organization_id: principal?.organization_id, user_id: principal?.user_id };
      const line = { service: service.contract.name, ...done, ...who };
      if (error === undefined) log.info(line, done.operation);
      else log.error({ ...line, err: error }, done.operation);
    },
  };
}

async function unready(ups: readonly Up[], bus: Bus, draining: boolean): Promise<Record<string, string>> {
  const reasons: Record<string, string> = {};
  if (draining) reasons.process = 'draining';
  if (!bus.up) reasons.events = 'the event bus is down';
  await Promise.all(
    ups.map(({ service, store }) =>
      store.ping().catch(() => {
        reasons[service.contract.name] = 'MongoDB does not answer';
      }),
    ),
  );
  return reasons;
}
