/** Wires webhook delivery. */
import { service } from '#libs/service';
import { createPrincipalReader } from '../identity/principal.ts';
import { createStorageQuota, quotaRejections } from '../identity/storage-quota.ts';
import { deliveryLogHandlers } from './api/inspecting.ts';
import { listenerHandlers } from './api/listening.ts';
import { redeliveryHandlers } from './api/redelivering.ts';
import { secretRotationHandlers } from './api/rotating.ts';
import { webhookHandlers } from './api/subscribing.ts';
import { webhookDeliveryContract } from './contract.ts';
import { createDispatcher } from './dispatch/dispatcher.ts';
import { createFailingWebhooks } from './dispatch/failing-webhooks.ts';
import { createMaintenanceWorker } from './dispatch/maintenance.ts';
import { matchingSubscribers } from './dispatch/matching.ts';
import { createLiveListeners } from './listening/live-listeners.ts';
import { createLongPolls } from './listening/long-polls.ts';
import { createDeliveryMetrics, webhookMetrics } from './metrics.ts';
import { createCircuitBreakers } from './rules/circuit-breaker.ts';
import { webhookSettings } from './settings.ts';
import { ownCollections } from './store/collections.ts';
import { createRepositories } from './store/repositories.ts';
import { createResolver } from './transport/dns.ts';
import { createSender } from './transport/sender.ts';

/** A claimed row stays locked for the request timeout plus this margin. */
const lockMarginMs = 20_000;

export const webhookDelivery = service({
  contract: webhookDeliveryContract,
  settings: webhookSettings,
  metrics: [...webhookMetrics, quotaRejections],
  collections: ownCollections,
  start({ store, settings, now, log, meters, tracing }) {
    const timeoutMs = settings.WEBHOOK_TIMEOUT_SECONDS * 1000;
    const allowLoopback = settings.WEBHOOK_ALLOW_INSECURE_TARGETS;
    const policy = { allowLoopback, allowedRanges: settings.WEBHOOK_ALLOWED_CIDRS };
    const lockMs = timeoutMs + lockMarginMs;
    const repositories = createRepositories(store, { now, lockMs });
    const [firstPauseS = 0, maxPauseS = 0] = settings.WEBHOOK_CIRCUIT_BREAKER_SECONDS;
    const breakers = createCircuitBreakers({
      firstPauseMs: firstPauseS * 1000,
      maxPauseMs: maxPauseS * 1000,
    });
    const delaysMs = settings.WEBHOOK_RETRY_SCHEDULE_SECONDS.map((seconds) => seconds * 1000);
    const proxy = settings.WEBHOOK_PROXY_URL;
    const sender = createSender({ policy, timeoutMs, resolve: createResolver(), proxy });
    const onError = (message: string, error: unknown) => log.warn({ err: error }, message);
    const longPolls = createLongPolls(repositories.listenerEvents.findWithEvents);
    const liveListeners = createLiveListeners(repositories.listeners);
    const metrics = createDeliveryMetrics(meters, { ...repositories, breakers, sender, longPolls, now });
    const failing = createFailingWebhooks({ ...repositories, store, now, onError });
    const storageQuota = createStorageQuota(store, meters);
    const tools = { storageQuota, sender, breakers, metrics, failing, longPolls, liveListeners };
    const parts = { ...repositories, ...tools, store, now, onError };
    const dispatcher = createDispatcher({
      ...parts,
      ...{ delaysMs, tracing, log, random: Math.random },
      ...{ lockMs, retryForMs: lockMarginMs },
    });
    if (allowLoopback)
      log.warn(
        'WEBHOOK_ALLOW_INSECURE_TARGETS is on, so webhooks can reach this machine. Do not use it in production.',
      );
    return {
      routes: [
        ...deliveryLogHandlers(parts),
        ...webhookHandlers(parts),
        ...secretRotationHandlers(parts),
        ...redeliveryHandlers(parts),
        ...listenerHandlers(parts),
      ],
      authenticate: createPrincipalReader(store, now),
      subscribers: matchingSubscribers(webhookDeliveryContract.consumes, { ...parts, dispatcher }),
      workers: [dispatcher, createMaintenanceWorker(parts)],
      onDrain: longPolls.drain,
    };
  },
});
