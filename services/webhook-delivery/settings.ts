/** Settings of webhook delivery. */
import { z } from 'zod';
import { flag, list, seconds, secret, timeLimit } from '#libs/service';
import { maxAttempts } from './rules/backoff.ts';
import { parseRange, type Range } from './rules/target.ts';

const ranges = list.transform((cidrs, context): Range[] =>
  cidrs.flatMap((cidr) => {
    const range = parseRange(cidr);
    if (!range)
      context.addIssue({ code: 'custom', message: `${cidr} is not a CIDR range such as 10.20.0.0/16` });
    return range ? [range] : [];
  }),
);

const retryDelays = list.pipe(
  z
    .array(seconds)
    .max(
      maxAttempts - 1,
      `must have at most ${maxAttempts - 1} delays, because there are ${maxAttempts} attempts`,
    ),
);

const breakerPauses = list.pipe(
  z.array(timeLimit).length(2, 'must be two durations: the first pause and the longest pause'),
);

/** The error message does not contain the value, which may include a password. */
const proxy = secret
  .refine((value) => /^https?:$/.test(URL.parse(value.reveal())?.protocol ?? ''), {
    message: 'must be a URL such as http://user:password@host:3128',
  })
  .optional();

/** Environment variables and their schemas. */
export const webhookSettings = z.object({
  WEBHOOK_ALLOW_INSECURE_TARGETS: flag.default(false).meta({
    description: 'Allow webhooks to the local machine, also over http. For local development only.',
  }),
  WEBHOOK_ALLOWED_CIDRS: ranges
    .default([])
    .meta({ description: 'Private networks that webhooks may reach, as comma-separated CIDRs' }),
  WEBHOOK_CIRCUIT_BREAKER_SECONDS: breakerPauses.default([30, 600]).meta({
    description:
      'How long the circuit breaker of an unresponsive endpoint stays open: first pause, longest pause',
  }),
  WEBHOOK_PROXY_URL: proxy.meta({
    description: 'HTTP proxy for all deliveries, used with CONNECT. The proxy resolves host names.',
  }),
  WEBHOOK_RETRY_SCHEDULE_SECONDS: retryDelays.default([30, 1800]).meta({
    description: 'Delays after the first and the second attempt. With fewer delays there are fewer attempts',
  }),
  WEBHOOK_TIMEOUT_SECONDS: timeLimit
    .default(10)
    .meta({ description: 'Timeout of one request, including DNS and TLS' }),
});
