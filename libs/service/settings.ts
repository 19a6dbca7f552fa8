/** Settings: environment variables, read in one place. All errors are reported at once. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { describeIssue, Secret } from '#libs/contract';
import { createKeyring, type Keyring } from '#libs/store';

/** A boolean: `true` or `false`, also `1`, `0`, `yes`, `no`. */
export const flag = z.stringbool();

/** A decimal integer. */
export const integer = z
  .string()
  .regex(/^-?\d{1,15}$/, 'must be a whole number')
  .transform(Number);

/** A number of things: 0 or more. */
export const count = integer.pipe(z.number().min(0));

/** The longest time that a timer of Node supports (2^31 ms), in whole seconds. It fires a longer one at once. */
const maxTimerSeconds = 2_147_483;

/** A duration in seconds, with at most three decimals. */
export const seconds = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,3})?$/, 'must be a number of seconds')
  .transform(Number)
  .pipe(z.number().max(maxTimerSeconds));

/** A time limit in seconds. A limit of zero would end everything at once. */
export const timeLimit = seconds.pipe(z.number().min(0.1));

/** A text that is never printed. */
export const secret = z
  .string()
  .min(1, 'must not be empty')
  .transform((value) => new Secret(value));

/** Public URL of the application, without a trailing slash. Paths are appended to it. */
export const appUrl = z
  .string()
  .refine((text) => /^https?:\/\/[^?#@\s./][^?#@\s]*$/.test(text) && URL.canParse(text), {
    message: 'must be an http or https URL such as https://docs.example.com, without a query',
  })
  .default('http://127.0.0.1:8080')
  .transform((url) => url.replace(/\/$/, ''));

/** How many passwords the service hashes at once. */
export const passwordHashConcurrency = integer.pipe(z.number().min(1).max(64)).default(2).meta({
  description:
    'Passwords that the service hashes at the same time. Each takes one of four threads, or of UV_THREADPOOL_SIZE',
});

/** A list of values, separated by commas. */
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

/** A keyring of encryption keys. Error messages do not contain the value. */
export const keys = secret
  .transform((value, context): Keyring => {
    try {
      return createKeyring(value);
    } catch {
      context.addIssue({
        code: 'custom',
        message: 'must be base64 keys of 32 random bytes each, separated by commas (openssl rand -base64 32)',
      });
      return z.NEVER;
    }
  })
  .meta({
    description: 'Base64 keys of 32 bytes that encrypt secrets at rest, newest first, separated by commas',
  });

/** A RabbitMQ URL. Error messages do not contain the value. */
const amqp = secret
  .refine((value) => /^amqps?:$/.test(URL.parse(value.reveal())?.protocol ?? ''), {
    message: 'must be a URL like amqps://user:password@host/vhost',
  })
  .optional();

const port = integer.pipe(z.number().min(0).max(65_535));
const networks = list.refine(
  (items) => items.every(isNetwork),
  'must be addresses or CIDRs, separated by commas',
);

/** The settings of every process. */
export const commonSettings = z.object({
  MONGODB_URI: secret.meta({ description: 'Connection string of the MongoDB replica set' }),
  AMQP_URL: amqp.meta({
    description: 'URL of RabbitMQ (3.10 or newer). Required if services run in several processes',
  }),
  AMQP_PREFIX: z
    .string()
    .regex(/^[\w.-]{0,100}$/, 'must have only letters, digits, dots, dashes and underscores')
    .default('')
    .meta({ description: 'Prefix of every name on RabbitMQ, so that several systems can share a broker' }),
  ENCRYPTION_KEYS: keys,
  PORT: port.default(8080).meta({ description: 'Port of the API. 0 selects a free port' }),
  MANAGEMENT_PORT: port.default(9464).meta({
    description:
      'Port of health, metrics and the operator’s operations. Do not expose it through the ingress',
  }),
  HOST: z.string().default('0.0.0.0').meta({ description: 'Address to listen on' }),
  MANAGEMENT_HOST: z
    .string()
    .optional()
    .meta({ description: 'Address that the management port listens on. Default: the value of `HOST`' }),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['json', 'pretty']).default('json'),
  TRUSTED_PROXIES: networks
    .default([])
    .meta({ description: 'CIDRs of the proxies whose X-Forwarded-For header is trusted' }),
  RATE_LIMIT_PER_MINUTE: count.default(6000).meta({
    description:
      'Sustained requests per minute and principal; each process counts by itself. 0 means no limit',
  }),
  RATE_LIMIT_BURST: integer
    .pipe(z.number().min(1))
    .default(1000)
    .meta({ description: 'Requests that a principal may send at once' }),
  BODY_MEMORY_MB: integer.pipe(z.number().min(48)).default(64).meta({
    description: 'Memory for the bodies of all requests in flight, MiB. Above it, requests get a 503',
  }),
  MAX_REQUESTS_IN_PROGRESS: integer.pipe(z.number().min(128)).default(1_000).meta({
    description: 'Requests that a process handles at once, most of them waiting. Further ones get a 503',
  }),
  DRAIN_SECONDS: timeLimit
    .default(25)
    .meta({ description: 'How long a stop waits for requests in flight, in seconds' }),
  METRICS_ENABLED: flag
    .default(true)
    .meta({ description: 'Whether the management port serves `/metrics`. Costs a few percent of CPU time' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ description: 'OTLP endpoint for traces, over HTTP. Tracing is off if unset' }),
  OTEL_TRACES_SAMPLER: z
    .enum(['parentbased_traceidratio', 'traceidratio'])
    .default('parentbased_traceidratio')
    .meta({
      description:
        'Whether the sampling decision of callers is used (`parentbased_`) or only the configured fraction',
    }),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1)
    .meta({ description: 'Fraction of traces to sample, e.g. 0.05' }),
});

export type CommonSettings = z.output<typeof commonSettings>;

/** Invalid settings. The message has one line per error. */
export class SettingsError extends Error {
  constructor(errors: readonly string[]) {
    super(`Invalid settings:\n${errors.map((error) => `  ${error}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

/**
 * Reads the settings of all schemas. Throws one `SettingsError` with every error, including `earlierErrors`.
 */
export function readSettings(
  shapes: readonly z.ZodObject[],
  environment: Record<string, string | undefined>,
  earlierErrors: readonly string[] = [],
): Record<string, unknown>[] {
  const values = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const errors = new Set<string>(earlierErrors);
  const results = shapes.map((shape) => {
    const result = shape.safeParse(values, { error: describeIssue });
    for (const issue of result.error?.issues ?? []) {
      const [name = '', index] = issue.path.map(String);
      const position = index === undefined ? '' : `value ${Number(index) + 1}: `;
      const message = issue.message.replace(/^./, (letter) => letter.toLowerCase());
      errors.add(`${name}: ${name in values ? position + message : 'is required'}`);
    }
    return result.data ?? {};
  });
  if (errors.size > 0) throw new SettingsError([...errors]);
  return results;
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const maxBits = { 4: 32, 6: 128 }[isIP(address)];
  return (
    maxBits !== undefined &&
    more.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))
  );
}
