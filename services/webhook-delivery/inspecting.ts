/** Inspecting: the event log, and a test of one webhook. */
import { z } from 'zod';
import { newId, parseCursor, rateLimitHeaders, TooManyRequests } from '#libs/contract';
import { handle, type TokenBucket, tokenBucket, toPage } from '#libs/http';
import type { Store } from '#libs/store';
import { listWebhookEvents, testWebhook } from './contract.ts';
import { isSuccess } from './rules/backoff.ts';
import { toBody, toHeaders } from './rules/message.ts';
import { testType } from './rules/redelivery.ts';
import type { Sender } from './sending.ts';
import type { Configs } from './store/configs.ts';
import { type EventLog, toEntry } from './store/log.ts';

const position = z.tuple([z.iso.datetime(), z.uuid()]);
const message = 'This is a test: your webhook works.';

/** The operations that look at deliveries. */
export function inspecting({
  store,
  configs,
  log,
  sender,
  now,
}: {
  store: Pick<Store, 'respond'>;
  configs: Configs;
  log: EventLog;
  sender: Pick<Sender, 'send'>;
  now: () => Date;
}) {
  const ms = () => now().getTime();
  // without these limits the test would be a port scanner
  const perWebhook = tokenBucket({ name: 'webhook-tests', perMinute: 10, burst: 10, now: ms });
  const perOrganization = tokenBucket({
    name: 'webhook-tests-organization',
    perMinute: 60,
    burst: 60,
    now: ms,
  });

  return [
    handle(testWebhook, async ({ actor, params }) => {
      const { organization_id } = actor;
      const receiver = await configs.receiver(actor, params.config_id);
      takeToken(perOrganization, organization_id);
      takeToken(perWebhook, receiver.id);
      const at = now();
      const told = { id: newId(), type: testType, occurred_at: at.toISOString(), organization_id };
      const body = toBody({ ...told, data: { message } });
      const deliveryId = newId();
      const about = { eventId: told.id, eventType: told.type, deliveryId, attempt: 1 };
      const headers = toHeaders({ ...about, body, secrets: receiver.secrets, at });
      const { http_status, duration_ms, error } = await sender.send({ url: receiver.url, headers, body });
      const delivered = http_status !== null && isSuccess(http_status);
      const status = delivered ? ('delivered' as const) : ('failed' as const);
      const event = { event_id: told.id, event_type: told.type, organization_id, document_id: null, body };
      const ended = { _id: deliveryId, config_id: receiver.id, status, http_status, duration_ms, error };
      return store.respond(actor, async (within) => {
        await log.record(within, event, ended);
        return { status, http_status };
      });
    }),

    handle(listWebhookEvents, async ({ actor, query }) => {
      const { limit, cursor, ...filters } = query;
      const [created_at, _id] = parseCursor(cursor, position) ?? [];
      const after = created_at && _id ? { created_at: new Date(created_at), _id } : undefined;
      const found = await log.list(actor, { ...filters, after, limit: limit + 1 });
      const place = (row: (typeof found)[number]) => [row.created_at.toISOString(), row._id];
      return toPage({ found, limit, toItem: toEntry, position: place });
    }),
  ];
}

/** Takes a token, or throws `TooManyRequests` with the time to wait. */
function takeToken(bucket: TokenBucket, key: string): void {
  const waitS = bucket(key);
  if (waitS > 0) throw TooManyRequests(undefined, { headers: rateLimitHeaders(bucket.policy, waitS) });
}
