/** Promises about what is refused as rich text, and what is not. */
import { expect, test } from '@jest/globals';
import { findFaults, isRichText } from './faults.ts';

const pathsOf = (value: unknown) => findFaults(value).map(({ path }) => path);
const text = { type: 'text', text: 'Go', marks: [{ type: 'link', attrs: { href: 'x' } }, { type: 'bold' }] };
const unlimited = Number.POSITIVE_INFINITY;

function nested(depth: number): unknown {
  return JSON.parse(`${'{"type":"a","content":['.repeat(depth)}{"type":"b"}${']}'.repeat(depth)}`);
}

test('a tree of known and unknown nodes is fine, whatever its root', () => {
  const doc = {
    type: 'doc',
    content: [
      { type: 'paragraph', content: [text] },
      { type: 'callout', attrs: { a: [1] } },
    ],
  };
  for (const value of [doc, text, { type: 'doc' }, { type: 'doc', content: [] }]) {
    expect(findFaults(value)).toEqual([]);
    expect(isRichText(value)).toBe(true);
  }
});

test('whatever is no object is refused at the root', () => {
  for (const value of [undefined, null, 'doc', 7, true, [], [{ type: 'doc' }]]) {
    expect(findFaults(value)).toEqual([{ path: '', message: 'must be an object with a type' }]);
    expect(isRichText(value)).toBe(false);
  }
});

test('every fault is named at once, in reading order, each with its path', () => {
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
  expect(pathsOf(value)).toEqual([
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

test('no more than 50 faults are named, and none repeats a long key', () => {
  const keys = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}`.repeat(1000), 1]));
  const faults = findFaults({ type: 'doc', ...keys });
  expect(faults).toHaveLength(50);
  for (const { path } of faults) expect(path.length).toBeLessThanOrEqual(64);
});

test('32 nested content arrays are kept, 33 are refused by naming the limit, and so is any depth beyond', () => {
  expect(findFaults(nested(32))).toEqual([]);
  for (const depth of [33, 1000]) {
    expect(findFaults(nested(depth))).toEqual([
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
  expect(findFaults(nested(5), { maxDepth: 4, maxBytes: 1000 })).toHaveLength(1);
  expect(findFaults(nested(4), { maxDepth: 4, maxBytes: 1000 })).toEqual([]);
});

test('hostile depth of content, of attributes or of unknown fields never overflows the stack', () => {
  const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  expect(isRichText(nested(200_000))).toBe(true);
  expect(findFaults(nested(200_000)).map(({ path }) => path)).toContain(
    Array(33).fill('content').join('/0/'),
  );
  expect(pathsOf({ type: 'a', attrs: { deep } })).toContain('attrs');
  expect(pathsOf({ type: 'a', deep })).toContain('deep');
  expect(pathsOf({ type: 'a', content: deep })).toContain('content/0');
});

test('the size is that of the JSON in UTF-8, and one byte too much is refused by naming the limit', () => {
  const value = { type: 'text', text: 'é😀' };
  const maxBytes = Buffer.byteLength(JSON.stringify(value));
  expect(findFaults(value, { maxDepth: 1, maxBytes })).toEqual([]);
  expect(findFaults(value, { maxDepth: 1, maxBytes: maxBytes - 1 })).toEqual([
    { path: '', message: `must be at most ${maxBytes - 1} bytes as JSON` },
  ]);
  expect(pathsOf({ type: 'text', text: 'x'.repeat(512 * 1024) })).toEqual(['']);
});

test('attributes may have any name, and are nested at most 32 deep', () => {
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
