/** Wires webhook delivery. */
import { service } from '#libs/service';
import { createPrincipalReader } from '../identity/contract.ts';
import { deliveryLogHandlers } from './api/inspecting.ts';
import { redeliveryHandlers } from './api/redelivering.ts';
import { secretRotationHandlers } from './api/rotating.ts';
import { webhookHandlers } from './api/subscribing.ts';
import { webhookDeliveryContract } from './contract.ts';
import { createDispatcher } from './dispatch/dispatcher.ts';
import { createFailingWebhooks } from './dispatch/failing-webhooks.ts';
import { createMaintenanceWorker } from './dispatch/maintenance.ts';
import { matchingSubscribers } from './dispatch/matching.ts';
import { createDeliveryMetrics, webhookMetrics } from './metrics.ts';
import { createCircuitBreakers } from './rules/circuit-breaker.ts';
import { webhookSettings } from './settings.ts';
import { webhookConfigs, webhookDeliveries, webhookEvents } from './store/collections.ts';
import { createConfigs } from './store/configs.ts';
import { createFailures } from './store/failures.ts';
import { createEventLog } from './store/log.ts';
import { createNewDeliveries } from './store/new-deliveries.ts';
import { createQueue } from './store/queue.ts';
import { createReceivers } from './store/receivers.ts';
import { createRedeliveries } from './store/redeliveries.ts';
import { createWaitingDeliveries } from './store/waiting-deliveries.ts';
import { createResolver } from './transport/dns.ts';
import { createSender } from './transport/sender.ts';

/** A claimed row stays locked for the request timeout plus this margin. */
const lockMarginMs = 20_000;

export const webhookDelivery = service({
  contract: webhookDeliveryContract,
  settings: webhookSettings,
  metrics: webhookMetrics,
  collections: [webhookConfigs, webhookEvents, webhookDeliveries],
  start({ store, settings, now, log, meters, tracing }) {
    const timeoutMs = settings.WEBHOOK_TIMEOUT_SECONDS * 1000;
    const allowLoopback = settings.WEBHOOK_ALLOW_INSECURE_TARGETS;
    const policy = { allowLoopback, allowedRanges: settings.WEBHOOK_ALLOWED_CIDRS };
    const configs = createConfigs(store, now);
    const receivers = createReceivers(store, now);
    const failures = createFailures(store);
    const failing = createFailingWebhooks({ store, configs, failures, now });
    const queue = createQueue(store, timeoutMs + lockMarginMs);
    const [firstPauseS = 0, maxPauseS = 0] = settings.WEBHOOK_CIRCUIT_BREAKER_SECONDS;
    const breakers = createCircuitBreakers({
      firstPauseMs: firstPauseS * 1000,
      maxPauseMs: maxPauseS * 1000,
    });
    const delaysMs = settings.WEBHOOK_RETRY_SCHEDULE_SECONDS.map((seconds) => seconds * 1000);
    const proxy = settings.WEBHOOK_PROXY_URL;
    const sender = createSender({ policy, timeoutMs, resolve: createResolver(), proxy });
    const onError = (message: string, error: unknown) => log.warn({ err: error }, message);
    const waiting = createWaitingDeliveries(store);
    const metrics = createDeliveryMetrics(meters, { queue, breakers, sender, now });
    const dispatcher = createDispatcher({
      ...{
        queue,
        receivers,
        waiting,
        failing,
        sender,
        metrics,
        delaysMs,
        now,
        tracing,
        log,
        onError,
        breakers,
      },
      retryForMs: lockMarginMs,
      random: Math.random,
    });
    if (allowLoopback)
      log.warn(
        'WEBHOOK_ALLOW_INSECURE_TARGETS is on, so webhooks can reach this machine. Do not use it in production.',
      );
    return {
      // the route `/webhooks/events` must come before `/webhooks/{config_id}`
      routes: [
        ...deliveryLogHandlers({ store, receivers, log: createEventLog(store, now), sender, now }),
        ...webhookHandlers({ store, configs, deliveries: waiting, sender, now }),
        ...secretRotationHandlers({ store, configs, now }),
        ...redeliveryHandlers({ store, configs, redeliveries: createRedeliveries(store, now) }),
      ],
      authenticate: createPrincipalReader(store, now),
      subscribers: matchingSubscribers(webhookDeliveryContract.consumes, {
        ...{ store, receivers, dispatcher },
        newDeliveries: createNewDeliveries(store, now),
      }),
      workers: [dispatcher, createMaintenanceWorker({ queue, breakers, metrics, configs, failing, onError })],
    };
  },
});
