/** Starts services in one process and stops them in order. */
import type { Contract } from '#libs/contract';
import { type Bus, toTopology } from '#libs/events';
import { listen } from '#libs/http';
import { openStore, type Store } from '#libs/store';
import { type ProcessContext, publicApplication, type StartedService } from './applications.ts';
import { closed, closedTogether } from './close-in-order.ts';
import { createEventBus, missingBrokerError } from './event-bus.ts';
import { consumeEvents } from './event-consumer.ts';
import { publicHealth } from './health.ts';
import { publishing, registerQueueMetrics, registerStoreMetrics, watching } from './instrumentation.ts';
import { type Log, newLog } from './log.ts';
import { type ManagementPort, openManagement } from './management-port.ts';
import { newMetrics } from './metrics.ts';
import { prepared } from './prepare.ts';
import type { AnyService } from './service.ts';
import { type CommonSettings, commonSettings, readSettings } from './settings.ts';
import { startTracing } from './tracing.ts';

/** What to start. */
export interface StartOptions {
  services: readonly AnyService[];
  /** The contracts of the whole system, also of services that run elsewhere. */
  contracts: readonly Contract[];
  environment: Record<string, string | undefined>;
  apiPrefix: string;
  now?: () => Date;
  log?: Log;
  /** A bus that this process has to itself, instead of the one that the settings ask for. */
  bus?: Bus;
}

/** Running services. */
export interface RunningServices {
  port: number;
  managementPort: number;
  log: Log;
  /** Drains and stops everything; resolves when nothing is left. */
  stop(): Promise<void>;
}

interface Process extends ProcessContext {
  services: readonly AnyService[];
  /** Whether nobody outside of this process publishes. */
  alone: boolean;
  /** Every store that was opened. */
  stores: Store[];
  /** Aborted when the start has failed: what still waits gives up. */
  failed: AbortController;
}

/** Starts the services; rejects with every mistake of the settings, or when a port is taken. Waits for MongoDB. */
export async function start(options: StartOptions): Promise<RunningServices> {
  const names = options.services.map(({ contract }) => contract.name);
  const [common, ...own] = readSettings(
    [commonSettings, ...options.services.map((service) => service.settings)],
    options.environment,
    options.bus ? [] : missingBrokerError(options.contracts, names, options.environment),
  );
  // the first shape gave the first result
  const settings = common as CommonSettings;
  const log = options.log ?? newLog({ level: settings.LOG_LEVEL, format: settings.LOG_FORMAT });
  const name = names.length === 1 ? (names[0] ?? '') : 'all-in-one';
  const tracing = await startTracing(tracedTo(settings, name));
  const opened = Promise.withResolvers<readonly Store[]>();
  // nobody may be waiting
  opened.promise.catch(() => {});
  const { bus, alone } = options.bus
    ? { bus: options.bus, alone: true }
    : createEventBus({ settings, log, contracts: options.contracts, owners: names, stores: opened.promise });
  const host: Process = {
    ...options,
    settings,
    log,
    tracing,
    bus,
    alone,
    now: options.now ?? (() => new Date()),
    metrics: newMetrics({ on: settings.METRICS_ENABLED }),
    stores: [],
    failed: new AbortController(),
  };
  host.metrics.bus(bus);
  let management: ManagementPort | undefined;
  try {
    management = await openManagement(host);
    const ups = await begun(host, own);
    opened.resolve(ups.map(({ store }) => store));
    management.answerFor(ups);
    return await serving(host, ups, management);
  } catch (error) {
    host.failed.abort(error);
    opened.reject(error);
    await closed([
      async () => management?.close(),
      () => bus.close(),
      ...host.stores.map((store) => () => store.close()),
      () => tracing.stop(),
      async () => host.metrics.stop(),
    ]).catch((more: unknown) => log.warn({ err: more }, 'Not everything could be closed'));
    throw error;
  }
}

/** Where spans go, if anywhere. */
function tracedTo(settings: CommonSettings, name: string) {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio } = settings;
  return endpoint ? { endpoint, name, ratio, believesCallers: sampler.startsWith('parentbased') } : undefined;
}

/** Opens the stores and lets the services say what they do. */
async function begun(host: Process, own: readonly unknown[]): Promise<StartedService[]> {
  const { services, log, metrics, failed } = host;
  const stores = await prepared(services, (service) => opened(host, service), log, failed.signal);
  const health = publicHealth(host.bus, () => ups);
  const ups: StartedService[] = services.map((service, at) => {
    const store = stores[at];
    if (!store) throw new Error(`${service.contract.name} has no store`);
    registerStoreMetrics(metrics.of(service.contract.name), store);
    const given = {
      store,
      mongodb: host.settings.MONGODB_URI,
      settings: own[at],
      log: log.child({ service: service.contract.name }),
      meters: metrics.own(service.contract.name, service.metrics ?? []),
      now: host.now,
      health,
      tracing: host.tracing,
    };
    return { service, store, running: service.start(given) };
  });
  for (const { running } of ups) await running.beforeStart?.();
  return ups;
}

async function opened(
  { contracts, settings, bus, alone, now, tracing, log, stores, failed, metrics }: Process,
  service: AnyService,
): Promise<Store> {
  const store = await openStore({
    uri: settings.MONGODB_URI,
    contract: service.contract,
    collections: service.collections,
    topology: toTopology(contracts),
    bus,
    alone,
    ring: settings.ENCRYPTION_KEYS,
    now,
    trace: tracing.current,
    watch: watching(metrics.of(service.contract.name), tracing),
    publishing: publishing(tracing, bus.messagingSystem),
    onError: (what, error) => log.warn({ service: service.contract.name, err: error }, what),
  });
  if (failed.signal.aborted) await store.close();
  else stores.push(store);
  return store;
}

/** Lets a service hear what is in its queue, if it hears anything. */
async function hearing(
  { bus, metrics, log, now, tracing }: Process,
  { service, running }: StartedService,
): Promise<void> {
  const { name } = service.contract;
  if (!running.subscribers?.length) return;
  const meters = metrics.of(name);
  registerQueueMetrics(meters, bus, name);
  const { handler, onDeadLetter } = consumeEvents(
    { meters, log, now, tracing, messagingSystem: bus.messagingSystem },
    name,
    running.subscribers,
  );
  await bus.consume(name, handler, { prefetch: 32, ...(onDeadLetter && { onDeadLetter }) });
}

/** Opens the port of the API, then lets events and background work flow. */
async function serving(
  host: Process,
  ups: readonly StartedService[],
  management: ManagementPort,
): Promise<RunningServices> {
  const { settings, log, bus, tracing, metrics } = host;
  const api = await listen(publicApplication(host, ups), settings.PORT, settings.HOST);
  try {
    for (const up of ups) await hearing(host, up);
  } catch (error) {
    await api.close(0);
    throw error;
  }
  for (const { store, running } of ups) {
    store.relay();
    for (const worker of running.workers ?? []) worker.start();
  }
  const workers = ups.flatMap(({ running }) => running.workers ?? []);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    management.is('draining');
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
      () => management.close(),
      () => tracing.stop(),
      async () => metrics.stop(),
    ]);
    log.info('Stopped');
  };
  management.is(undefined);
  log.info({ port: api.port, management_port: management.port }, 'Ready');
  return {
    port: api.port,
    managementPort: management.port,
    log,
    stop: () => (stopping ??= stop()),
  };
}
