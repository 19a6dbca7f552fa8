/** Tests how many commas, lists, objects, names and errors a JSON body may have. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { stopAfterErrors } from './input-errors.ts';
import { parseJsonBody } from './json-body.ts';

const million = 1_000_000;
const shape = z.object({ values: z.array(z.number()), text: z.string() });
const parse = (text: string) => parseJsonBody(shape, Buffer.from(text));

test('a body has at most five million commas', () => {
  const write = (count: number) => `{"values":[${'1,'.repeat(count - 1)}1],"text":""}`;
  expect(parse(write(4.9 * million))).toMatchObject({ errors: { total: 0 }, value: { text: '' } });
  expect(parse(write(5.1 * million)).malformed?.reason).toMatch(
    'more than five million commas, lists and objects',
  );
});

test('lists and objects count, also without commas between them', () => {
  const lists = `${'['.repeat(100)}${']'.repeat(100)}`;
  const body = `{"values":[${`${lists},`.repeat(51_000)}1],"text":""}`;
  expect(parse(body).malformed?.reason).toMatch('more than five million commas, lists and objects');
});

test('commas and brackets of texts do not count', () => {
  const text = ',[{'.repeat(5.1 * million);
  expect(parse(JSON.stringify({ values: [1], text })).value).toEqual({ values: [1], text });
});

const names = (count: number, start = 0) =>
  Array.from({ length: count }, (_, at) => `"n${start + at}":1`).join(',');

test('a body has at most 1,000 different names, of one object or of many', () => {
  const parseAny = (text: string) => parseJsonBody(z.unknown(), Buffer.from(text));
  expect(parseAny(`{${names(1_000)}}`).malformed).toBeUndefined();
  const reason = 'The JSON has more than 1,000 different names.';
  expect(parseAny(`{${names(1_001)}}`).malformed).toEqual({ reason });
  expect(parseAny(`[{${names(600)}},{${names(600, 600)}}]`).malformed).toEqual({ reason });
  expect(parseAny(`[{${names(600)}},{${names(600, 400)}}]`).malformed).toBeUndefined();
});

test('texts with quotes and colons are no names', () => {
  const text = '":"\\":{"'.repeat(2_000);
  expect(parse(JSON.stringify({ values: [1], text })).value).toEqual({ values: [1], text });
});

test('colons without names are malformed, and take no time', () => {
  const text = `{"${'n'.repeat(5 * million)}"${':'.repeat(5 * million)}}`;
  expect(parse(text).malformed).toEqual({ reason: undefined });
});

describe('a list of items that stops after errors', () => {
  const item = stopAfterErrors(z.strictObject({ a: z.number(), items: z.array(z.unknown()).optional() }));
  const list = z.array(item);
  const parseItems = (items: unknown[]) => parseJsonBody(list, Buffer.from(JSON.stringify(items)));

  test('has at most about 1,000 errors', () => {
    expect(parseItems(Array.from({ length: 20_000 }, () => ({}))).errors).toMatchObject({ total: 1_001 });
  });

  test('has all errors below that, and all items if there are none', () => {
    expect(parseItems(Array.from({ length: 900 }, () => ({}))).errors.total).toBe(900);
    const items = Array.from({ length: 20_000 }, (_, a) => ({ a }));
    expect(parseItems(items)).toMatchObject({ value: items, errors: { total: 0 } });
  });

  test('counts the errors of nested items once', () => {
    interface Nested {
      items: Nested[];
    }
    const nested: z.ZodType<Nested> = stopAfterErrors(
      z.strictObject({
        get items() {
          return z.array(nested);
        },
      }),
    );
    const leaves = (count: number) => Array.from({ length: count }, () => ({}));
    const body = [{ items: [{ items: leaves(400) }, { items: leaves(400) }] }, ...leaves(100)];
    expect(parseJsonBody(z.array(nested), Buffer.from(JSON.stringify(body))).errors.total).toBe(900);
  });

  test('never accepts a value that ignores the errors', () => {
    const ignoring = z.array(item.catch({ a: 0 }));
    const text = JSON.stringify(Array.from({ length: 2_000 }, () => ({})));
    expect(() => parseJsonBody(ignoring, Buffer.from(text))).toThrow('ignored the errors');
  });
});
