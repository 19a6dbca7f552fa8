/** Tests for pages and cursors, secrets, problems, identifiers and timestamps. */
import { format, inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { page, parseCursor, toCursor } from './page.ts';
import { Problem, problem } from './problem.ts';
import { IdempotencyKeyInFlight, InvalidRequest } from './problems.ts';
import { Secret } from './secret.ts';
import { id, newId, timestamp } from './shapes.ts';

describe('pages', () => {
  const query = z.object(page);
  const position = z.tuple([z.string(), z.number().nullable()]);

  test('limit defaults to 100 and must be between 1 and 100', () => {
    expect(query.parse({})).toEqual({ limit: 100 });
    expect(query.parse({ limit: '1' }).limit).toBe(1);
    for (const limit of [
      '0',
      '101',
      '-1',
      '1.5',
      'x',
      '',
      'NaN',
      'Infinity',
      '0x10',
      '1e1',
      ' 1',
      '+1',
      '1.0',
    ])
      expect(query.safeParse({ limit }).success).toBe(false);
    expect(query.safeParse({ limit: '0x10' }).error?.issues[0]?.message).toBe('Must be a whole number');
  });

  test('a cursor decodes to its position', () => {
    const at = ['Ä/+"\u2028', null] as const;
    const cursor = toCursor(at);
    expect(parseCursor(cursor, position)).toEqual(at);
    expect(parseCursor(undefined, position)).toBeUndefined();
  });

  test('a cursor of another list or a malformed one is rejected', () => {
    for (const cursor of ['', 'x', '%%%', toCursor([1, 2]), toCursor(['a']), toCursor(['a', 1, 2])]) {
      const thrown = () => parseCursor(cursor, position);
      expect(thrown).toThrow(Problem);
      expect(thrown).toThrow(
        expect.objectContaining({
          kind: InvalidRequest,
          extra: { errors: [expect.objectContaining({ path: 'query/cursor' })] },
        }),
      );
    }
  });
});

describe('secrets', () => {
  const value = 'hunter2';
  const secret = new Secret(value);

  test('reveal returns the value of a secret', () => {
    expect(secret.reveal()).toBe(value);
  });

  test('a secret never prints its value', () => {
    const deep = { list: [secret], map: new Map([['a', secret]]), secret };
    const error = new Error(`bad ${secret}`, { cause: secret });
    const printed = [
      `${secret}`,
      String(secret),
      'x'.concat(secret as unknown as string),
      JSON.stringify(deep),
      inspect(secret),
      inspect(deep, { depth: 9, showHidden: true }),
      format('%s %o %O %j %d', secret, secret, secret, secret, secret),
      inspect(error),
      String(error),
      error.stack ?? '',
      JSON.stringify(Object.entries(secret)),
      JSON.stringify({ ...secret }),
      inspect(structuredClone(Object.assign({}, secret))),
      Object.getOwnPropertyNames(secret).join(),
      inspect(Object.assign(new Error('x'), { secret })),
      [secret].join(),
    ];
    for (const text of printed) expect(text).not.toContain(value);
    expect([`${secret}`, inspect(secret)]).toEqual(['[secret]', '[secret]']);
    expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}');
  });
});

describe('problems', () => {
  const Full = problem('full', 409, 'It is full.');

  test('a problem uses the title of its kind as the default detail', () => {
    const plain = Full();
    expect([plain instanceof Error, plain.kind, plain.message, plain.name]).toEqual([
      true,
      Full,
      'It is full.',
      'full',
    ]);
    const custom = Full('Come back later.', { extra: { limit: 3 }, headers: { 'Retry-After': '5' } });
    expect(custom).toMatchObject({
      message: 'Come back later.',
      extra: { limit: 3 },
      headers: { 'Retry-After': '5' },
    });
  });

  test('a problem overrides the default headers of its kind', () => {
    const Busy = problem('busy', 409, 'Busy.', { 'Retry-After': '1' });
    expect([Full().headers, Busy().headers]).toEqual([{}, { 'Retry-After': '1' }]);
    expect(Busy(undefined, { headers: { 'Retry-After': '9', X: 'y' } }).headers).toEqual({
      'Retry-After': '9',
      X: 'y',
    });
  });

  test('IdempotencyKeyInFlight asks for a retry after one second', () => {
    expect(IdempotencyKeyInFlight().headers).toEqual({ 'Retry-After': '1' });
  });

  test('shared problems have unique snake_case codes and error statuses', async () => {
    const kinds = Object.values(await import('./problems.ts'));
    for (const { code, status } of kinds) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(status >= 400 && status < 600).toBe(true);
    }
    expect(new Set(kinds.map(({ code }) => code)).size).toBe(kinds.length);
  });
});

describe('identifiers and timestamps', () => {
  test('new ids are UUIDs of version 7, ordered by creation time', () => {
    const ids = Array.from({ length: 1_000 }, newId);
    expect(new Set(ids).size).toBe(1_000);
    expect([...ids].sort()).toEqual(ids);
    for (const uuid of ids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id.safeParse(ids[0]).success).toBe(true);
    for (const odd of ['', 'x', `${ids[0]} `, `{${ids[0]}}`, 7, null])
      expect(id.safeParse(odd).success).toBe(false);
  });

  test('timestamps are UTC with milliseconds', () => {
    expect(timestamp.safeParse(new Date().toISOString()).success).toBe(true);
    for (const odd of ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000+01:00', '2026-11-21', 'now'])
      expect(timestamp.safeParse(odd).success).toBe(false);
  });
});
