/** Tests for the log: secrets are redacted by type, wherever they are. */
import { spawn } from 'node:child_process';
import { createSecretKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { slowness } from '#libs/testing';
import { createBufferedLog, createLog } from './log.ts';

const password = 'correct-horse-battery-staple';

/** Creates a log that collects its lines. */
function logFixture() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLog({ level: 'trace', format: 'json', destination }), text: () => lines.join('') };
}

/** Returns what is written when `fields` are logged. */
function logFields(fields: unknown): string {
  const { log, text } = logFixture();
  log.info(fields, 'message');
  return text();
}

const toLoggedLine = (fields: unknown) => JSON.parse(logFields(fields));

describe('a secret', () => {
  const secret = new Secret(password);
  class Settings {
    password = password;
  }
  const secretFields: Record<string, unknown> = {
    'as a field': { secret },
    'in a nested object': { settings: { mail: { secret } } },
    'in a list': { all: [1, secret] },
    'in a set': { all: new Set([secret]) },
    'in a map': { all: new Map([['password', password]]) },
    'in an instance of a class': { settings: new Settings() },
    'attached to an error': { err: Object.assign(new Error('no'), { secret, keyValue: { password } }) },
    'attached to an error in another field': { why: Object.assign(new Error('no'), { doc: { password } }) },
    'attached to the cause of an error': {
      err: new Error('no', { cause: Object.assign(new Error('x'), { password }) }),
    },
    'attached to an inner error': {
      err: new AggregateError([Object.assign(new Error('x'), { password })]),
    },
    'in a server URL in an error message': {
      err: new Error(`connect mongodb://ada:${password}@db:27017/pds failed`),
    },
    'in a server URL that was thrown as a string': { err: `amqps://ada:${password}@mq/` },
    'as bytes': { key: Buffer.from(password) },
    'as a key object': { key: createSecretKey(Buffer.from(password)) },
    'attached to an error that is logged directly': Object.assign(new Error('no'), { password }),
  };

  test.each(Object.entries(secretFields))('%s is not logged', (_, fields) => {
    const text = logFields(fields);
    expect(text).not.toContain(password);
    expect(text).not.toContain(Buffer.from(password).toString('base64'));
    expect(text).not.toContain([...Buffer.from(password)].slice(0, 8).join(','));
    expect(JSON.parse(text).msg).toBe('message');
  });

  test('in the bindings of a child log is not logged', () => {
    const { log, text } = logFixture();
    log.child({ secret, settings: { secret } }).info('message');
    expect(text()).not.toContain(password);
    expect(JSON.parse(text())).toMatchObject({ secret: '[secret]', settings: { secret: '[secret]' } });
  });
});

test('values that are not secret are logged unchanged', () => {
  const fields = { text: 'a', count: 1, none: null, on: true, list: ['a', 'b'], deep: { a: { b: [1] } } };
  expect(toLoggedLine({ ...fields, absent: undefined })).toMatchObject(fields);
  expect(toLoggedLine({ at: new Date(0), bytes: randomBytes(7), big: 5n, run: () => 1 })).toMatchObject({
    at: '1970-01-01T00:00:00.000Z',
    bytes: '[7 bytes]',
    big: '5',
  });
});

test('an error is logged with type, message, code, stack and causes', () => {
  const cause = Object.assign(new RangeError('too far'), { code: 'EFAR' });
  const { err } = toLoggedLine({ err: new TypeError('no', { cause }) });
  expect(err).toMatchObject({
    type: 'TypeError',
    message: 'no',
    cause: { type: 'RangeError', code: 'EFAR' },
  });
  expect(err.stack).toContain('log.test.ts');
  // under any field name
  expect(toLoggedLine({ why: new TypeError('no') }).why).toMatchObject({ type: 'TypeError', message: 'no' });
});

test('circular values and long lists are cut off', () => {
  const circular: Record<string, unknown> = {};
  circular.again = circular;
  expect(logFields({ circular }).length).toBeLessThan(500);
  const error: Error & { cause?: unknown } = new Error('circular');
  error.cause = error;
  expect(logFields({ err: error })).toContain('circular');
  expect(toLoggedLine({ many: Array.from({ length: 1000 }, () => 1) }).many).toHaveLength(50);
});

test('a buffered log writes nothing before release, then all in order', () => {
  const lines: string[] = [];
  const { log, release } = createBufferedLog({
    level: 'info',
    format: 'json',
    destination: { write: (line) => void lines.push(JSON.parse(line).msg) },
  });
  log.info('first');
  log.child({ service: 'documents' }).info('second');
  log.debug('hidden');
  expect(lines).toEqual([]);
  release();
  log.info('third');
  release();
  expect(lines).toEqual(['first', 'second', 'third']);
});

test('a process whose standard output has no reader can exit', async () => {
  const source = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
    const log = createLog({ level: 'info', format: 'json' });
    process.on('disconnect', () => {
      log.info('one');
      log.info('two');
      process.exit(7);
    });
    log.info('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const exited = once(child, 'exit');
    await once(child.stdout as Readable, 'data');
    child.stdout?.destroy();
    child.disconnect();
    const limit = pause(60_000 * slowness, ['did not exit'], { ref: false });
    expect((await Promise.race([exited, limit]))[0]).toBe(7);
  } finally {
    child.kill('SIGKILL');
  }
});

test('a readable log writes one line per entry, and the stack of an error', async () => {
  const source = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
    const log = createLog({ level: 'info', format: 'pretty' });
    log.child({ service: 'documents' }).info({ status: 201, deep: { a: [1] } }, 'createDocument');
    log.debug('hidden');
    log.error({ err: new TypeError('no') }, 'failed');
    // what is not written by now is lost
    process.exit();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [lines] = await Promise.all([child.stdout.toArray(), once(child, 'exit')]);
  const [first, ...others] = Buffer.concat(lines).toString().split('\n');
  expect(first).toMatch(
    /^\[\d\d:\d\d:\d\d\] INFO: createDocument {"service":"documents","status":201,"deep":{"a":\[1\]}}$/,
  );
  expect(others[0]).toMatch(/^\[\d\d:\d\d:\d\d\] ERROR: failed *$/);
  expect(others.join('\n')).toMatch(/TypeError: no\n +at /);
});
