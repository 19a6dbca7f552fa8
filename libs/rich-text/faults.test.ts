/** Tests of which values are valid rich text. */
import { expect, test } from '@jest/globals';
import { findFaults } from './faults.ts';

const findPaths = (value: unknown) => findFaults(value).map(({ path }) => path);
const text = { type: 'text', text: 'Go', marks: [{ type: 'link', attrs: { href: 'x' } }, { type: 'bold' }] };
const unlimited = Number.POSITIVE_INFINITY;

function nest(depth: number): unknown {
  return JSON.parse(`${'{"type":"a","content":['.repeat(depth)}{"type":"b"}${']}'.repeat(depth)}`);
}

test('a tree of known and unknown nodes with any root is valid', () => {
  const doc = {
    type: 'doc',
    content: [
      { type: 'paragraph', content: [text] },
      { type: 'callout', attrs: { a: [1] } },
    ],
  };
  for (const value of [doc, text, { type: 'doc' }, { type: 'doc', content: [] }]) {
    expect(findFaults(value)).toEqual([]);
  }
});

test('a value that is not an object has one fault at the root', () => {
  for (const value of [undefined, null, 'doc', 7, true, [], [{ type: 'doc' }]]) {
    expect(findFaults(value)).toEqual([{ path: '', message: 'must be an object with a type' }]);
  }
});

test('all faults are listed in reading order with their paths', () => {
  const value = {
    type: '',
    html: '<b>',
    content: [
      { type: 7, text: 5 },
      null,
      { type: 'a', content: {}, marks: {} },
      {
        type: 'text',
        text: 'x',
        marks: [{ type: 'bold' }, 'italic', { type: 'link', attrs: [], href: 'x' }],
      },
    ],
  };
  expect(findPaths(value)).toEqual([
    'type',
    'html',
    'content/0/type',
    'content/0/text',
    'content/1',
    'content/2/content',
    'content/2/marks',
    'content/3/marks/1',
    'content/3/marks/2/href',
    'content/3/marks/2/attrs',
  ]);
});

test('at most 20 faults are listed and long keys are cut', () => {
  const keys = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}`.repeat(1000), 1]));
  const faults = findFaults({ type: 'doc', ...keys });
  expect(faults).toHaveLength(20);
  for (const { path } of faults) expect(path.length).toBeLessThanOrEqual(64);
});

test('more than 32 nested content arrays are one fault with the limit', () => {
  expect(findFaults(nest(32))).toEqual([]);
  for (const depth of [33, 1000]) {
    expect(findFaults(nest(depth))).toEqual([
      {
        path: Array(33).fill('content').join('/0/'),
        message: 'must not be nested deeper than 32 content arrays',
      },
    ]);
  }
  expect(
    findFaults(
      { type: 'a', content: [{ type: '', content: [{ type: '' }] }] },
      { maxDepth: 1, maxBytes: 99 },
    ),
  ).toEqual([
    { path: 'content/0/type', message: 'must be a non-empty string' },
    { path: 'content/0/content', message: 'must not be nested deeper than 1 content arrays' },
  ]);
  expect(findFaults(nest(5), { maxDepth: 4, maxBytes: 1000 })).toHaveLength(1);
  expect(findFaults(nest(4), { maxDepth: 4, maxBytes: 1000 })).toEqual([]);
});

test('validation of deeply nested values does not overflow the stack', () => {
  const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  expect(findFaults(nest(200_000), { maxDepth: unlimited, maxBytes: unlimited })).toEqual([]);
  expect(findFaults(nest(200_000)).map(({ path }) => path)).toContain(Array(33).fill('content').join('/0/'));
  expect(findPaths({ type: 'a', attrs: { deep } })).toContain('attrs');
  expect(findPaths({ type: 'a', deep })).toContain('deep');
  expect(findPaths({ type: 'a', content: deep })).toContain('content/0');
});

test('a value whose JSON exceeds the limit by one byte has a fault', () => {
  const value = { type: 'text', text: 'é😀' };
  const maxBytes = Buffer.byteLength(JSON.stringify(value));
  expect(findFaults(value, { maxDepth: 1, maxBytes })).toEqual([]);
  expect(findFaults(value, { maxDepth: 1, maxBytes: maxBytes - 1 })).toEqual([
    { path: '', message: `must be at most ${maxBytes - 1} bytes as JSON` },
  ]);
  expect(findPaths({ type: 'text', text: 'x'.repeat(512 * 1024) })).toEqual(['']);
});

test('attributes may have any name but at most 32 levels', () => {
  const attrs = (json: string) =>
    findFaults({ type: 'a', attrs: JSON.parse(json) }, { maxDepth: 1, maxBytes: unlimited });
  for (const json of [
    '{}',
    '{"$where":1}',
    '{"__proto__":{}}',
    '{"a\\u0000":1}',
    '{"a.b":"$1"}',
    '{"a":[{"$ref":"x"}]}',
  ]) {
    expect(attrs(json)).toEqual([]);
  }
  expect(attrs(`${'{"a":'.repeat(32)}1${'}'.repeat(32)}`)).toEqual([]);
  expect(attrs(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)).toHaveLength(1);
  const deep = JSON.parse(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`);
  expect(findFaults({ type: 'a', marks: [{ type: 'b', attrs: deep }] })[0]?.path).toBe('marks/0/attrs');
});

test('a number that is too large for a double is a fault at its attributes', () => {
  const value = JSON.parse(
    '{"type":"a","marks":[{"type":"b","attrs":{"c":[1e308,-1e400]}}],"attrs":{"d":1e400}}',
  );
  const message = 'must not contain numbers that are too large for a double, such as 1e400';
  expect(findFaults(value)).toEqual([
    { path: 'attrs', message },
    { path: 'marks/0/attrs', message },
  ]);
});
