/** Settings: read from the environment in one place, all mistakes reported at once. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from '#libs/contract';
import { createKeyring, type Keyring } from '#libs/store';

/** `true` or `false` (also `1`, `0`, `yes`, `no`). */
export const flag = z.stringbool();

/** A whole number written in decimal. */
export const integer = z
  .string()
  .regex(/^-?\d{1,15}$/, 'must be a whole number')
  .transform(Number);

/** A span of time in seconds, written as a number. */
export const seconds = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,3})?$/, 'must be a number of seconds')
  .transform(Number);

/** Text that must never be printed. */
export const secret = z
  .string()
  .min(1, 'must not be empty')
  .transform((value) => new Secret(value));

/** The address where people reach the application, without a slash at its end. */
export const appUrl = z
  .url()
  .default('http://127.0.0.1:8080')
  .transform((url) => url.replace(/\/$/, ''));

/** Values separated by commas. */
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== ''),
);

/** A ring of encryption keys; a mistake in it is said without its text. */
export const keys = secret
  .transform((value, context): Keyring => {
    try {
      return createKeyring(value);
    } catch {
      context.addIssue({
        code: 'custom',
        message: 'must hold base64 keys of 32 bytes each, separated by commas',
      });
      return z.NEVER;
    }
  })
  .meta({
    description: 'Base64 keys of 32 bytes that seal secrets at rest, newest first, separated by commas',
  });

/** The address of a RabbitMQ; a mistake in it is said without its text. */
const amqp = secret
  .refine((value) => /^amqps?:$/.test(URL.parse(value.reveal())?.protocol ?? ''), {
    message: 'must be an address like amqps://user:password@host/vhost',
  })
  .optional();

const port = integer.pipe(z.number().min(0).max(65_535));
const count = integer.pipe(z.number().min(0));
const networks = list.refine(
  (all) => all.every(isNetwork),
  'must be addresses or CIDRs, separated by commas',
);

/** The settings that every process has. */
export const commonSettings = z.object({
  MONGODB_URI: secret.meta({ description: 'Address of the MongoDB replica set' }),
  AMQP_URL: amqp.meta({
    description: 'Address of RabbitMQ (3.10 or newer); required when services run in several processes',
  }),
  AMQP_PREFIX: z
    .string()
    .regex(/^[\w.-]{0,100}$/, 'must be letters, digits, dots, dashes')
    .default('')
    .meta({ description: 'Put before every name on RabbitMQ, so that several systems can share one' }),
  ENCRYPTION_KEYS: keys,
  PORT: port.default(8080).meta({ description: 'Port of the API; 0 takes a free one' }),
  MANAGEMENT_PORT: port
    .default(9464)
    .meta({ description: 'Port of health and metrics, never behind the ingress' }),
  HOST: z.string().default('0.0.0.0').meta({ description: 'Address to listen on' }),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['json', 'pretty']).default('json'),
  TRUSTED_PROXIES: networks.default([]).meta({ description: 'CIDRs whose X-Forwarded-For counts' }),
  RATE_LIMIT_PER_MINUTE: count
    .default(6000)
    .meta({ description: 'Steady requests of a principal; 0 is no limit' }),
  RATE_LIMIT_BURST: integer
    .pipe(z.number().min(1))
    .default(1000)
    .meta({ description: 'Requests of a principal at once' }),
  DRAIN_SECONDS: seconds.default(25).meta({ description: 'How long requests in flight may take at a stop' }),
  METRICS_ENABLED: flag
    .default(true)
    .meta({ description: 'Whether `/metrics` is there on the management port; it costs a few percent' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url()
    .optional()
    .meta({ description: 'Where traces go, as OTLP over HTTP; off when unset' }),
  OTEL_TRACES_SAMPLER: z
    .enum(['parentbased_traceidratio', 'traceidratio'])
    .default('parentbased_traceidratio')
    .meta({
      description: 'Whether what callers decided for their trace counts (`parentbased_`), or our share alone',
    }),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1)
    .meta({ description: 'The share of traces that is kept, e.g. 0.05' }),
});

export type CommonSettings = z.output<typeof commonSettings>;

/** Settings with mistakes: the message has a line for each. */
export class SettingsError extends Error {
  constructor(errors: readonly string[]) {
    super(`The settings have mistakes:\n${errors.map((mistake) => `  ${mistake}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

/**
 * Reads the settings that the shapes name; throws one `SettingsError` with every mistake of all shapes, and
 * those that were found before.
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
    const result = shape.safeParse(values);
    for (const issue of result.error?.issues ?? []) {
      const name = issue.path.join('.');
      errors.add(`${name}: ${name in values ? issue.message : 'is required'}`);
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
