/** Problems of webhook delivery. */
import { problem } from '#libs/contract';

/** The most webhooks that one organization may have. */
export const maxWebhooks = 50;

export const TooManyWebhooks = problem(
  'too_many_webhooks',
  400,
  `An organization has at most ${maxWebhooks} webhooks: delete one to make room.`,
);
