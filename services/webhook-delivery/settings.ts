/** The settings of webhook delivery. */
import { z } from 'zod';
import { flag, list, seconds, secret } from '#libs/service';
import { maxAttempts } from './rules/backoff.ts';
import { parseRange, type Range } from './rules/target.ts';

const ranges = list.transform((cidrs, context): Range[] =>
  cidrs.flatMap((cidr) => {
    const range = parseRange(cidr);
    if (!range) context.addIssue({ code: 'custom', message: `${cidr} is no CIDR such as 10.20.0.0/16` });
    return range ? [range] : [];
  }),
);

const pauses = list.pipe(
  z
    .array(seconds)
    .max(maxAttempts - 1, `must be at most ${maxAttempts - 1} pauses: there are ${maxAttempts} attempts`),
);

const breaker = list.pipe(
  z
    .array(seconds.pipe(z.number().positive()))
    .length(2, 'must be two times: the first pause and the longest'),
);

/** A mistake in it is said without its text. */
const proxy = secret
  .refine((value) => /^https?:$/.test(URL.parse(value.reveal())?.protocol ?? ''), {
    message: 'must be an address like http://user:password@host:3128',
  })
  .optional();

/** Names in the environment and their shapes. */
export const webhookSettings = z.object({
  WEBHOOK_ALLOW_INSECURE_TARGETS: flag
    .default(false)
    .meta({ description: 'Allow webhooks to this very machine, also by http; for local work only' }),
  WEBHOOK_ALLOWED_CIDRS: ranges
    .default([])
    .meta({ description: 'Private networks that webhooks may reach, as CIDRs separated by commas' }),
  WEBHOOK_CIRCUIT_BREAKER_SECONDS: breaker
    .default([30, 600])
    .meta({ description: 'How long an endpoint that does not answer is left alone: at first, and at most' }),
  WEBHOOK_PROXY_URL: proxy.meta({
    description: 'An HTTP proxy that every delivery goes through, by CONNECT; it resolves the names',
  }),
  WEBHOOK_RETRY_SCHEDULE_SECONDS: pauses
    .default([30, 1800])
    .meta({ description: 'Pauses after the first and the second attempt' }),
  WEBHOOK_TIMEOUT_SECONDS: seconds
    .default(10)
    .meta({ description: 'How long one request may take, DNS and TLS included' }),
});
