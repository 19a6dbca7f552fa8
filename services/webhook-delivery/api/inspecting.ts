/** Handlers for the event log and for testing a webhook. */
import { z } from 'zod';
import { newId, parseCursor, rateLimitHeaders, TooManyRequests } from '#libs/contract';
import { handle, type TokenBucket, tokenBucket, toPage } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import { getWebhookEvent, listWebhookEvents, testWebhook } from '../contract.ts';
import { isSuccess } from '../rules/backoff.ts';
import { toBody, toHeaders } from '../rules/message.ts';
import { testType } from '../rules/redelivery.ts';
import type { Configs } from '../store/configs.ts';
import type { EventLog } from '../store/log.ts';
import type { Receiver, Receivers } from '../store/receivers.ts';
import type { WaitingDeliveries } from '../store/waiting-deliveries.ts';
import type { Sender } from '../transport/sender.ts';
import { toDetails, toEntry } from './presenters.ts';

const position = z.tuple([z.iso.datetime(), z.uuid()]);
const message = 'This is a test event. Your webhook works.';

/** Creates the handlers of `testWebhook`, `listWebhookEvents` and `getWebhookEvent`. */
export function deliveryLogHandlers({
  store,
  configs,
  receivers,
  waiting,
  eventLog,
  sender,
  now,
  onError,
}: {
  store: Pick<Store, 'respond'>;
  configs: Pick<Configs, 'find' | 'resetBreakers'>;
  receivers: Pick<Receivers, 'get'>;
  waiting: Pick<WaitingDeliveries, 'resume'>;
  eventLog: EventLog;
  sender: Pick<Sender, 'send'>;
  now: () => Date;
  onError(message: string, error: unknown): void;
}) {
  const nowMs = () => now().getTime();
  // without these limits, the test operation could be used as a port scanner
  const perWebhook = tokenBucket({ name: 'webhook-tests', perMinute: 10, burst: 10, now: nowMs });
  const perOrganization = tokenBucket({
    name: 'webhook-tests-organization',
    perMinute: 60,
    burst: 60,
    now: nowMs,
  });

  return [
    handle(testWebhook, async ({ actor, params }) => {
      const { organization_id } = actor;
      const receiver = await receivers.get(actor, params.config_id);
      // first, so that rejected tests of one webhook do not count as tests of the organization
      takeToken(perWebhook, receiver.id);
      takeToken(perOrganization, organization_id);
      const at = now();
      const payload = { id: newId(), type: testType, occurred_at: at.toISOString(), organization_id };
      const body = toBody({ ...payload, data: { message } });
      const deliveryId = newId();
      const ids = { eventId: payload.id, eventType: payload.type, deliveryId, attempt: 1 };
      const headers = toHeaders({ ...ids, body, secrets: receiver.secrets, at });
      const { logged, retry_after: _, ...outcome } = await sender.send({ url: receiver.url, headers, body });
      const { http_status } = outcome;
      const isDelivered = http_status !== null && isSuccess(http_status);
      const status = isDelivered ? ('delivered' as const) : ('failed' as const);
      const event = {
        ...{ event_id: payload.id, event_type: payload.type, organization_id },
        ...{ document_id: null, body },
      };
      const request = { started_at: at, ...logged };
      const result = { _id: deliveryId, config_id: receiver.id, status, ...outcome, request };
      // apart from the response: a test that was sent is logged, also if another request has taken the Idempotency-Key
      await eventLog.recordTest(actor, event, result);
      if (http_status !== null) await closeBreakers(actor, receiver);
      return store.respond(actor, async () => ({ status, http_status }));
    }),

    handle(listWebhookEvents, async ({ actor, query }) => {
      const { limit, cursor, ...filters } = query;
      const [created_at, _id] = parseCursor(cursor, position) ?? [];
      const after = created_at && _id ? { created_at: new Date(created_at), _id } : undefined;
      const found = await eventLog.list(actor, { ...filters, after, limit: limit + 1 });
      const toPosition = (row: (typeof found)[number]) => [row.created_at.toISOString(), row._id];
      return toPage({ found, limit, toItem: toEntry, position: toPosition });
    }),

    handle(getWebhookEvent, async ({ actor, params, authorize }) => {
      const { entry, body } = await eventLog.getDetails(actor, params.entry_id);
      const config = await configs.find(actor, entry.config_id);
      // nobody has created a webhook that was deleted
      authorize(config ?? { created_by: '' });
      return toDetails(entry, body);
    }),
  ];

  /**
   * Closes the circuit breakers of a webhook whose receiver has responded, unless it has another URL now. Its
   * waiting deliveries become due. Does not throw, because the test was sent and logged.
   */
  async function closeBreakers(actor: Actor, { id, url }: Pick<Receiver, 'id' | 'url'>): Promise<void> {
    try {
      const row = await configs.resetBreakers(actor, id, { url });
      // deliveries of an inactive webhook would fail; they are resumed when it is enabled again
      if (row?.is_active) await waiting.resume(id);
    } catch (error) {
      onError(`Could not close the circuit breakers of webhook ${id}`, error);
    }
  }
}

/** Takes a token, or throws `TooManyRequests` with the time to wait. */
function takeToken(bucket: TokenBucket, key: string): void {
  const waitS = bucket(key);
  if (waitS > 0) throw TooManyRequests(undefined, { headers: rateLimitHeaders(bucket.policy, waitS) });
}
