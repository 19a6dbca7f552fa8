/** Tests for settings and for periodic workers: all errors at once, no secret in a message. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { until } from '#libs/testing';
import { formatError } from './run.ts';
import {
  appUrl,
  commonSettings,
  flag,
  integer,
  list,
  readSettings,
  SettingsError,
  seconds,
  secret,
} from './settings.ts';
import { every } from './worker.ts';

const required = { MONGODB_URI: 'mongodb://x', ENCRYPTION_KEYS: randomBytes(32).toString('base64') };
const common = (environment: Record<string, string | undefined> = {}) => {
  const [settings] = readSettings([commonSettings], { ...required, ...environment });
  return commonSettings.shape && (settings as z.output<typeof commonSettings>);
};
const getErrors = (
  environment: Record<string, string | undefined>,
  shapes: z.ZodObject[] = [commonSettings],
) => {
  try {
    readSettings(shapes, environment);
  } catch (error) {
    if (error instanceof SettingsError)
      return error.message
        .split('\n')
        .slice(1)
        .map((line) => line.trim());
    throw error;
  }
  return [];
};

describe('settings', () => {
  test('an unset or empty setting has its default', () => {
    for (const nothing of [undefined, '']) {
      const settings = common({
        PORT: nothing,
        TRUSTED_PROXIES: nothing,
        OTEL_EXPORTER_OTLP_ENDPOINT: nothing,
      });
      expect(settings).toMatchObject({
        PORT: 8080,
        MANAGEMENT_PORT: 9464,
        TRUSTED_PROXIES: [],
        DRAIN_SECONDS: 25,
        LOG_FORMAT: 'json',
      });
      expect(settings.OTEL_EXPORTER_OTLP_ENDPOINT).toBeUndefined();
    }
  });

  test('all errors of all schemas are reported at once, one per line', () => {
    const serviceShape = z.object({ COLOUR: z.enum(['red', 'blue']), SIZE: integer, MONGODB_URI: secret });
    const lines = getErrors(
      {
        PORT: '99999',
        MANAGEMENT_PORT: '80x',
        LOG_LEVEL: 'loud',
        DRAIN_SECONDS: '-1',
        TRUSTED_PROXIES: '10.0.0.0/8, nonsense',
        RATE_LIMIT_PER_MINUTE: '-5',
        RATE_LIMIT_BURST: '0',
        COLOUR: 'green',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'there',
      },
      [commonSettings, serviceShape],
    );
    expect(lines.map((line) => line.split(':')[0]).sort()).toEqual(
      'COLOUR DRAIN_SECONDS ENCRYPTION_KEYS LOG_LEVEL MANAGEMENT_PORT MONGODB_URI OTEL_EXPORTER_OTLP_ENDPOINT PORT RATE_LIMIT_BURST RATE_LIMIT_PER_MINUTE SIZE TRUSTED_PROXIES'.split(
        ' ',
      ),
    );
    for (const line of [
      'MONGODB_URI: is required',
      'SIZE: is required',
      'PORT: must be at most 65535',
      'RATE_LIMIT_BURST: must be at least 1',
      'COLOUR: use one of: red, blue',
      'OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL such as https://example.com',
    ])
      expect(lines).toContain(line);
  });

  test('an error in a list names the position of the value', () => {
    const serviceShape = z.object({ DELAYS: list.pipe(z.array(seconds)) });
    expect(getErrors({ DELAYS: '5,-1' }, [serviceShape])).toContain(
      'DELAYS: value 2: must be a number of seconds',
    );
  });

  test('error messages contain no values', () => {
    const value = 'hunter2hunter2';
    const allInvalid = Object.fromEntries(Object.keys(commonSettings.shape).map((name) => [name, value]));
    const serviceShape = z.object({ MY_KEY: secret.refine(() => false, 'must be another one'), FLAG: flag });
    const text = getErrors({ ...allInvalid, MY_KEY: value, FLAG: value }, [
      commonSettings,
      serviceShape,
    ]).join('\n');
    expect(text).toContain('MY_KEY');
    expect(text).toContain('PORT');
    expect(text).not.toContain('hunter2');
    expect(JSON.stringify(common({ MONGODB_URI: value }))).not.toContain('hunter2');
  });

  test('values are parsed by their schema', () => {
    const shape = z.object({ A: flag, B: integer, C: seconds, D: list });
    const [values] = readSettings([shape], { A: 'true', B: '-12', C: '0.5', D: ' a, ,b ' });
    expect(values).toEqual({ A: true, B: -12, C: 0.5, D: ['a', 'b'] });
    for (const B of ['1.5', '1e3', '0x1', ' 1', 'NaN'])
      expect(getErrors({ A: 'no', B, C: '1', D: '' }, [shape])).not.toEqual([]);
  });

  test('APP_URL accepts only http and https URLs without a query', () => {
    expect(appUrl.parse('https://docs.example.com/pds/')).toBe('https://docs.example.com/pds');
    const wrong = [
      'ftp://x.example',
      'https:x.example',
      'javascript:alert(1)',
      'https://',
      'https://.',
      'x.example',
    ];
    const withMore = ['?a', '#a', '/ a'].map((end) => `https://x.example${end}`);
    for (const url of [...wrong, ...withMore, 'https://user@x.example'])
      expect(appUrl.safeParse(url).success).toBe(false);
  });

  test('TRUSTED_PROXIES accepts addresses and networks only', () => {
    expect(common({ TRUSTED_PROXIES: '10.0.0.0/8, ::1,fd00::/8' }).TRUSTED_PROXIES).toHaveLength(3);
    for (const wrong of ['10.0.0.0/33', '10.0.0/8', '::1/129', 'a.example', '10.0.0.0/8/8', '10.0.0.0/'])
      expect(getErrors({ ...required, TRUSTED_PROXIES: wrong })).toHaveLength(1);
  });
});

describe('formatError', () => {
  test('a port in use gives one line that names the port', () => {
    const error = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', port: 8080 });
    expect(formatError(error)).toMatch(/^Port 8080 is taken .*PORT.*\.$/);
    expect(formatError(error).split('\n')).toHaveLength(1);
  });

  test('other errors give their message without a stack', () => {
    expect(formatError(new SettingsError(['A: is required']))).toBe('Invalid settings:\n  A: is required');
    expect(formatError(new Error('no'))).toBe('no');
    expect(formatError('odd')).toBe('odd');
  });
});

describe('every', () => {
  test('work repeats without overlap, even if started twice', async () => {
    let [running, maxRunning, runs] = [0, 0, 0];
    const worker = every(
      0,
      async () => {
        running += 1;
        maxRunning = Math.max(maxRunning, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        runs += 1;
      },
      () => undefined,
    );
    worker.start();
    worker.start();
    await until('some runs', async () => runs > 5);
    await worker.stop();
    expect([maxRunning, running]).toEqual([1, 0]);
  });

  test('stop waits for the current run and prevents another', async () => {
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const worker = every(
      0,
      async () => {
        runs += 1;
        await gate.promise;
      },
      () => undefined,
    );
    worker.start();
    let stopped = false;
    const stopping = worker.stop().then(() => {
      stopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped).toBe(false);
    gate.resolve();
    await stopping;
    await new Promise((resolve) => setTimeout(resolve, 5));
    worker.start();
    expect(runs).toBe(1);
  });

  test('thrown and rejected errors are reported and do not end it', async () => {
    const errors: unknown[] = [];
    let runs = 0;
    const worker = every(
      0,
      () => {
        runs += 1;
        if (runs === 1) throw new Error('thrown');
        return runs === 2 ? Promise.reject(new Error('rejected')) : Promise.resolve();
      },
      (error) => errors.push(error),
    );
    worker.start();
    await until('a successful run', async () => runs > 2);
    await worker.stop();
    expect(errors.map(String)).toEqual(['Error: thrown', 'Error: rejected']);
  });

  test('a worker that was never started stops immediately', async () => {
    await every(
      1_000,
      async () => undefined,
      () => undefined,
    ).stop();
  });
});
