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
