/** Problems that webhook delivery reports to callers. */
import { problem } from '#libs/contract';
import { maxListeners } from './rules/listeners.ts';
import { maxSecrets } from './rules/secrets.ts';

/** Maximum number of webhooks per organization. */
export const maxWebhooks = 50;

export const TooManyWebhooks = problem(
  'too_many_webhooks',
  400,
  `The organization has reached the limit of ${maxWebhooks} webhooks. Delete one first.`,
);

export const TooManySecrets = problem(
  'too_many_secrets',
  400,
  `The webhook has ${maxSecrets} secrets in use, which is the maximum. Wait until one expires, or rotate with overlap_seconds 0.`,
);

export const WebhookInactive = problem(
  'webhook_inactive',
  400,
  'The webhook is inactive. Set is_active to true with PATCH /webhooks/{config_id} first.',
);

export const WebhookDeleted = problem(
  'webhook_deleted',
  400,
  'The webhook of this entry was deleted, so the event cannot be redelivered.',
);

export const EventExpired = problem(
  'event_expired',
  400,
  'Event payloads are kept for 90 days and this one has been deleted. Fetch the resource directly.',
);

export const DeliveryPending = problem(
  'delivery_pending',
  400,
  'This entry is still being delivered. Wait until its status is delivered or failed.',
);

export const TestNotRepeated = problem(
  'test_not_repeated',
  400,
  'Test events cannot be redelivered. Send a new one with POST /webhooks/{config_id}/test.',
);

export const TooManyListeners = problem(
  'too_many_listeners',
  400,
  `The organization has reached the limit of ${maxListeners} listeners. Stop one, or wait until one ends.`,
);
