/** Tests that texts with half of a surrogate pair are found, wherever they are in a JSON value. */
import { expect, test } from '@jest/globals';
import { findLoneSurrogates } from './lone-surrogates.ts';

const getPaths = (value: unknown) => findLoneSurrogates(value, 'body').map(({ path }) => path);

test('valid texts and other values have no lone surrogate', () => {
  for (const value of [undefined, null, 1, true, 'text 😀', { a: ['😀', { 漢: null }] }])
    expect(getPaths(value)).toEqual([]);
});

test('lone surrogates are found in reading order, also in keys', () => {
  expect(getPaths('\ud83d')).toEqual(['body']);
  const value = { a: '\ude00', b: [{ c: 'x\ud83dy' }, '\ude00\ud83d'], 'k\ud83d': { d: '\ud83d' }, e: '😀' };
  expect(getPaths(value)).toEqual(['body/k\ufffd', 'body/a', 'body/b/0/c', 'body/b/1', 'body/k\ufffd/d']);
});

test('at most 50 lone surrogates are listed, with short paths', () => {
  expect(getPaths(Array.from({ length: 1000 }, () => '\ud83d'))).toHaveLength(50);
  expect(getPaths({ ['k'.repeat(10_000)]: '\ud83d' })).toEqual([`body/${'k'.repeat(64)}`]);
});

test('a value may be nested deeper than the call stack', () => {
  const depth = 100_000;
  const value = JSON.parse(`${'['.repeat(depth)}"\\ud83d"${']'.repeat(depth)}`);
  expect(getPaths(value)[0]).toMatch(/^body(\/0){499}$/);
});
