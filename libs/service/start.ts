/** Starts services in one process and stops them in order. */
import type { Contract } from '#libs/contract';
import { type Bus, toTopology } from '#libs/events';
import { listen } from '#libs/http';
import { openStore, type Store } from '#libs/store';
import { createPublicApplication, type ProcessContext, type StartedService } from './applications.ts';
import { createBodyReading } from './body-reading.ts';
import { closeAll, closeInOrder } from './close-in-order.ts';
import { createEventBus, missingBrokerError } from './event-bus.ts';
import { consumeEvents } from './event-consumer.ts';
import { createPublicHealth } from './health.ts';
import {
  createPublishSpans,
  createStoreInstrumentation,
  registerQueueMetrics,
  registerStoreMetrics,
} from './instrumentation.ts';
import { createLog, type Log } from './log.ts';
import { type ManagementPort, openManagementPort } from './management-port.ts';
import { createMetrics } from './metrics.ts';
import { prepareStores } from './prepare-stores.ts';
import type { AnyService } from './service.ts';
import { type CommonSettings, commonSettings, readSettings } from './settings.ts';
import { warnOfRiskySettings } from './settings-warnings.ts';
import { startTracing } from './tracing.ts';

/** What to start. */
export interface StartOptions {
  services: readonly AnyService[];
  /** Contracts of the whole system, including services in other processes. */
  contracts: readonly Contract[];
  environment: Record<string, string | undefined>;
  apiPrefix: string;
  /** The program of the worker that parses large bodies. Without it, this process parses them. */
  bodyWorker?: URL;
  now?: () => Date;
  log?: Log;
  /** An in-process bus to use instead of the one in the settings. */
  bus?: Bus;
}

/** The running services of a process. */
export interface RunningServices {
  port: number;
  managementPort: number;
  log: Log;
  /** Drains and stops everything. Resolves when all resources are closed. */
  stop(): Promise<void>;
}

interface StartingProcess extends ProcessContext {
  services: readonly AnyService[];
  /** Whether no other process publishes events of these services. */
  isSolePublisher: boolean;
  /** All stores that were opened. */
  stores: Store[];
  /** Aborted if the start fails, so that pending waits end. */
  startFailure: AbortController;
}

/** Starts the services and waits for MongoDB. Rejects with all settings errors, or if a port is in use. */
export async function start(options: StartOptions): Promise<RunningServices> {
  const names = options.services.map(({ contract }) => contract.name);
  const [common, ...serviceSettings] = readSettings(
    [commonSettings, ...options.services.map((service) => service.settings)],
    options.environment,
    options.bus ? [] : missingBrokerError(options.contracts, names, options.environment),
  );
  // the first result belongs to the first schema
  const settings = common as CommonSettings;
  const log = options.log ?? createLog({ level: settings.LOG_LEVEL, format: settings.LOG_FORMAT });
  warnOfRiskySettings(settings, log);
  const name = names.length === 1 ? (names[0] ?? '') : 'all-in-one';
  const tracing = await startTracing(toOtlpOptions(settings, name));
  const openedStores = Promise.withResolvers<readonly Store[]>();
  // a rejection is expected even if the bus does not wait for the stores
  openedStores.promise.catch(() => {});
  const { bus, isSolePublisher } = options.bus
    ? { bus: options.bus, isSolePublisher: true }
    : createEventBus({
        settings,
        log,
        contracts: options.contracts,
        owners: names,
        stores: openedStores.promise,
      });
  const context: StartingProcess = {
    ...options,
    settings,
    log,
    tracing,
    bus,
    isSolePublisher,
    now: options.now ?? (() => new Date()),
    metrics: createMetrics({ isEnabled: settings.METRICS_ENABLED }),
    stores: [],
    startFailure: new AbortController(),
    bodies: createBodyReading(settings, log, options.bodyWorker),
  };
  context.metrics.bus(bus);
  let management: ManagementPort | undefined;
  try {
    management = await openManagementPort(context);
    const services = await startServices(context, serviceSettings);
    openedStores.resolve(services.map(({ store }) => store));
    management.setServices(services);
    return await serve(context, services, management);
  } catch (error) {
    context.startFailure.abort(error);
    openedStores.reject(error);
    await closeInOrder([
      async () => management?.close(),
      () => bus.close(),
      ...context.stores.map((store) => () => store.close()),
      () => tracing.stop(),
      async () => context.metrics.stop(),
    ]).catch((closeError: unknown) =>
      log.warn({ err: closeError }, 'Could not close everything after the failed start'),
    );
    throw error;
  }
}

/** Returns the options of the span export, or `undefined` if no endpoint is set. */
function toOtlpOptions(settings: CommonSettings, name: string) {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio } = settings;
  return endpoint
    ? { endpoint, name, ratio, trustsCallerSampling: sampler.startsWith('parentbased') }
    : undefined;
}

/** Opens the stores and starts each service with its context. */
async function startServices(
  context: StartingProcess,
  serviceSettings: readonly unknown[],
): Promise<StartedService[]> {
  const { services, log, metrics, startFailure } = context;
  const stores = await prepareStores(
    services,
    (service) => openServiceStore(context, service),
    log,
    startFailure.signal,
  );
  const health = createPublicHealth(context.bus, () => started);
  const started: StartedService[] = services.map((service, at) => {
    const store = stores[at];
    if (!store) throw new Error(`${service.contract.name} has no store`);
    registerStoreMetrics(metrics.forService(service.contract.name), store);
    const serviceContext = {
      store,
      mongodb: context.settings.MONGODB_URI,
      settings: serviceSettings[at],
      log: log.child({ service: service.contract.name }),
      meters: metrics.forServiceMetrics(service.contract.name, service.metrics ?? []),
      now: context.now,
      deriveKeyring: context.settings.ENCRYPTION_KEYS.derive,
      health,
      tracing: context.tracing,
    };
    return { service, store, handlers: service.start(serviceContext) };
  });
  for (const { handlers } of started) await handlers.beforeStart?.();
  return started;
}

async function openServiceStore(context: StartingProcess, service: AnyService): Promise<Store> {
  const { contracts, settings, bus, isSolePublisher, now, tracing, log, metrics } = context;
  const store = await openStore({
    uri: settings.MONGODB_URI,
    contract: service.contract,
    collections: service.collections,
    topology: toTopology(contracts),
    bus,
    alone: isSolePublisher,
    keyring: settings.ENCRYPTION_KEYS,
    now,
    trace: tracing.currentTraceparent,
    instrumentation: createStoreInstrumentation(metrics.forService(service.contract.name), tracing),
    wrapPublish: createPublishSpans(tracing, bus.messagingSystem),
    onError: (message, error) => log.warn({ service: service.contract.name, err: error }, message),
  });
  if (context.startFailure.signal.aborted) await store.close();
  else context.stores.push(store);
  return store;
}

/** Consumes the queue of a service, if it has subscribers. */
async function consumeQueue(
  { bus, metrics, log, now, tracing }: StartingProcess,
  { service, handlers }: StartedService,
): Promise<void> {
  const [{ name }, { subscribers = [] }] = [service.contract, handlers];
  if (subscribers.length === 0) return;
  const meters = metrics.forService(name);
  registerQueueMetrics(meters, bus, name);
  const { handler, onDeadLetter } = consumeEvents(
    { meters, log, now, tracing, messagingSystem: bus.messagingSystem },
    name,
    subscribers,
  );
  await bus.consume(name, handler, { prefetch: 32, ...(onDeadLetter && { onDeadLetter }) });
}

/** Opens the API port, then starts consumers, outbox relays and workers. */
async function serve(
  context: StartingProcess,
  services: readonly StartedService[],
  management: ManagementPort,
): Promise<RunningServices> {
  const { settings, log, bus, tracing, metrics, bodies } = context;
  const api = await listen(createPublicApplication(context, services), settings.PORT, settings.HOST);
  try {
    for (const service of services) await consumeQueue(context, service);
  } catch (error) {
    await api.close(0);
    throw error;
  }
  for (const { store, handlers } of services) {
    store.relay();
    for (const worker of handlers.workers ?? []) worker.start();
  }
  const workers = services.flatMap(({ handlers }) => handlers.workers ?? []);
  const stores = services.map(({ store }) => store);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    management.setPhase('draining');
    log.info('Stopping');
    for (const { handlers } of services) handlers.onDrain?.();
    await closeInOrder([
      () => api.close(settings.DRAIN_SECONDS * 1000),
      () => bodies.parser.close(),
      () => closeAll(workers.map((worker) => () => worker.stop())),
      () => bus.close(),
      () => closeAll(stores.map((store) => () => store.close())),
      () => management.close(),
      () => tracing.stop(),
      async () => metrics.stop(),
    ]);
    log.info('Stopped');
  };
  management.setPhase(undefined);
  log.info({ port: api.port, management_port: management.port }, 'Ready');
  return {
    port: api.port,
    managementPort: management.port,
    log,
    stop: () => (stopping ??= stop()),
  };
}
