/** Problems of webhook delivery. */
import { problem } from '#libs/contract';
import { maxSecrets } from './rules/secrets.ts';

/** The most webhooks that one organization may have. */
export const maxWebhooks = 50;

export const TooManyWebhooks = problem(
  'too_many_webhooks',
  400,
  `An organization has at most ${maxWebhooks} webhooks: delete one to make room.`,
);

export const TooManySecrets = problem(
  'too_many_secrets',
  400,
  `At most ${maxSecrets} secrets of a webhook sign at the same time: wait until one ends, or rotate with overlap_seconds 0.`,
);

export const WebhookInactive = problem(
  'webhook_inactive',
  400,
  'The webhook is switched off: switch it on with PATCH /webhooks/{config_id} first.',
);

export const WebhookDeleted = problem(
  'webhook_deleted',
  400,
  'The webhook of this entry was deleted: there is nowhere to send it.',
);

export const EventExpired = problem(
  'event_expired',
  400,
  'What this event said is kept for 90 days, and is gone: fetch the thing itself.',
);

export const DeliveryPending = problem(
  'delivery_pending',
  400,
  'This entry is still being delivered: wait until it is delivered or failed.',
);

export const TestNotRepeated = problem(
  'test_not_repeated',
  400,
  'A test is not sent again: make a new one with POST /webhooks/{config_id}/test.',
);
