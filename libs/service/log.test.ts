/**
 * The log: a line for a machine or a person, and nothing in it that is secret by its type, wherever it hangs.
 */
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { createBufferedLog, createLog } from './log.ts';

const password = 'correct-horse-battery-staple';

/** A log, and what it has written. */
function kept() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLog({ level: 'trace', format: 'json', destination }), text: () => lines.join('') };
}

/** What is written when something is logged. */
function written(fields: unknown): string {
  const { log, text } = kept();
  log.info(fields, 'said');
  return text();
}

const lineOf = (fields: unknown) => JSON.parse(written(fields));

describe('a secret', () => {
  const secret = new Secret(password);
  class Settings {
    password = password;
  }
  const everywhere: Record<string, unknown> = {
    'by itself': { secret },
    'within an object': { settings: { mail: { secret } } },
    'in a list': { all: [1, secret] },
    'in a set': { all: new Set([secret]) },
    'in a map': { all: new Map([['password', password]]) },
    'in an instance of a class': { settings: new Settings() },
    'hung on an error': { err: Object.assign(new Error('no'), { secret, keyValue: { password } }) },
    'hung on an error under another name': { why: Object.assign(new Error('no'), { doc: { password } }) },
    'hung on the cause of an error': {
      err: new Error('no', { cause: Object.assign(new Error('x'), { password }) }),
    },
    'hung on one of several errors': {
      err: new AggregateError([Object.assign(new Error('x'), { password })]),
    },
    'in the address of a server that an error names': {
      err: new Error(`connect mongodb://ada:${password}@db:27017/pds failed`),
    },
    'in the address within what was thrown and is no error': { err: `amqps://ada:${password}@mq/` },
    'as bytes': { key: Buffer.from(password) },
    'as a key': { key: createSecretKey(Buffer.from(password)) },
    'as an error itself': Object.assign(new Error('no'), { password }),
  };

  test.each(Object.entries(everywhere))('%s is not logged', (_, fields) => {
    const text = written(fields);
    expect(text).not.toContain(password);
    expect(text).not.toContain(Buffer.from(password).toString('base64'));
    expect(text).not.toContain([...Buffer.from(password)].slice(0, 8).join(','));
    expect(JSON.parse(text).msg).toBe('said');
  });

  test('that a child of the log was bound to is not logged either', () => {
    const { log, text } = kept();
    log.child({ secret, settings: { secret } }).info('said');
    expect(text()).not.toContain(password);
    expect(JSON.parse(text())).toMatchObject({ secret: '[secret]', settings: { secret: '[secret]' } });
  });
});

test('what is no secret is told as it is', () => {
  const fields = { text: 'a', count: 1, none: null, on: true, list: ['a', 'b'], deep: { a: { b: [1] } } };
  expect(lineOf({ ...fields, absent: undefined })).toMatchObject(fields);
  expect(lineOf({ at: new Date(0), bytes: randomBytes(7), big: 5n, run: () => 1 })).toMatchObject({
    at: '1970-01-01T00:00:00.000Z',
    bytes: '[7 bytes]',
    big: '5',
  });
});

test('an error is told with its name, message, code, stack and causes', () => {
  const cause = Object.assign(new RangeError('too far'), { code: 'EFAR' });
  const { err } = lineOf({ err: new TypeError('no', { cause }) });
  expect(err).toMatchObject({
    type: 'TypeError',
    message: 'no',
    cause: { type: 'RangeError', code: 'EFAR' },
  });
  expect(err.stack).toContain('log.test.ts');
  // under whatever name
  expect(lineOf({ why: new TypeError('no') }).why).toMatchObject({ type: 'TypeError', message: 'no' });
});

test('what never ends is cut off', () => {
  const circle: Record<string, unknown> = {};
  circle.again = circle;
  expect(written({ circle }).length).toBeLessThan(500);
  const error: Error & { cause?: unknown } = new Error('round');
  error.cause = error;
  expect(written({ err: error })).toContain('round');
  expect(lineOf({ many: Array.from({ length: 1000 }, () => 1) }).many).toHaveLength(50);
});

test('a held log writes nothing before its release, then everything in order', () => {
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
