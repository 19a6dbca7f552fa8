/** Webhook delivery, wired. */
import { service } from '#libs/service';
import { createPrincipalReader } from '../identity/contract.ts';
import { webhookDeliveryContract } from './contract.ts';
import { createDispatcher } from './dispatcher.ts';
import { inspecting } from './inspecting.ts';
import { maintenanceWorker } from './maintenance.ts';
import { matching } from './matching.ts';
import { metering, webhookMetrics } from './metrics.ts';
import { redelivering } from './redelivering.ts';
import { resolving } from './resolving.ts';
import { rotating } from './rotating.ts';
import { circuitBreakers } from './rules/circuit-breaker.ts';
import { sender as newSender } from './sending.ts';
import { webhookSettings } from './settings.ts';
import { webhookConfigs, webhookDeliveries, webhookEvents } from './store/collections.ts';
import { configs as configRows } from './store/configs.ts';
import { failures } from './store/failures.ts';
import { eventLog } from './store/log.ts';
import { postponing as postponingOf } from './store/postponement.ts';
import { queue as queueOf } from './store/queue.ts';
import { redeliveries as repeatsOf } from './store/redeliveries.ts';
import { subscribing } from './subscribing.ts';

/** A claimed row is safe this much longer than its request may take. */
const lockMarginMs = 20_000;

export const webhookDelivery = service({
  contract: webhookDeliveryContract,
  settings: webhookSettings,
  metrics: webhookMetrics,
  collections: [webhookConfigs, webhookEvents, webhookDeliveries],
  start({ store, settings, now, log: lines, meters, tracing }) {
    const timeoutMs = settings.WEBHOOK_TIMEOUT_SECONDS * 1000;
    const allowLoopback = settings.WEBHOOK_ALLOW_INSECURE_TARGETS;
    const policy = { allowLoopback, allowedRanges: settings.WEBHOOK_ALLOWED_CIDRS };
    const configs = configRows(store, now);
    const log = eventLog(store, now);
    const lockMs = timeoutMs + lockMarginMs;
    const queue = queueOf(store, lockMs);
    const [pauseS = 0, longestS = 0] = settings.WEBHOOK_CIRCUIT_BREAKER_SECONDS;
    const open = circuitBreakers({ pauseMs: pauseS * 1000, longestMs: longestS * 1000 });
    const delaysMs = settings.WEBHOOK_RETRY_SCHEDULE_SECONDS.map((seconds) => seconds * 1000);
    const sender = newSender({
      ...{ policy, timeoutMs, resolve: resolving() },
      proxy: settings.WEBHOOK_PROXY_URL,
    });
    const onError = (what: string, error: unknown) => lines.warn({ err: error }, what);
    const worker = createDispatcher({
      ...{ queue, configs, sender, delaysMs, now, tracing, log: lines, onError },
      postponing: postponingOf(store),
      breakers: open,
      metering: metering(meters, { queue, breakers: open, sender, now }),
      lockMs,
      keepMs: lockMarginMs,
      random: Math.random,
    });
    if (allowLoopback)
      lines.warn(
        'WEBHOOK_ALLOW_INSECURE_TARGETS is on: webhooks may reach this machine. Never in production.',
      );
    return {
      // `/webhooks/events` before `/webhooks/{config_id}`
      routes: [
        ...inspecting({ store, configs, log, sender, now }),
        ...subscribing({ configs, sender }),
        ...rotating({ configs }),
        ...redelivering({ store, configs, repeats: repeatsOf(store, now) }),
      ],
      authenticate: createPrincipalReader(store, now),
      subscribers: matching(webhookDeliveryContract.consumes, { store, configs, log, worker }),
      workers: [worker, maintenanceWorker({ configs, failures: failures(store, now), onError })],
    };
  },
});
