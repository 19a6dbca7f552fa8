/** Tests how many commas, lists and objects a JSON body may have. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
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
