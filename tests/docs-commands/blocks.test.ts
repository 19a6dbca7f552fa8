/** Tests that all command blocks of a page are found, and that every skip has a reason. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { findCommandBlocks } from './blocks.ts';

const root = new URL('../../', import.meta.url);
const page = (...lines: string[]) => findCommandBlocks('docs/page.md', lines.join('\n'));

test('the blocks of a page are its sh fences with their line numbers', () => {
  expect(page('# Page', '```sh', 'echo 1', '', 'echo 2', '```', '```json', '{}', '```')).toEqual([
    { page: 'docs/page.md', line: 2, text: 'echo 1\n\necho 2\n' },
  ]);
});

test('a block in a list loses its indent', () => {
  expect(page('1. Do:', '', '   ```sh', '   if true; then', '     echo 1', '   fi', '   ```')).toMatchObject([
    { text: 'if true; then\n  echo 1\nfi\n' },
  ]);
});

test('a skip before a fence applies to that block only', () => {
  const blocks = page('<!-- skip: needs a cluster -->', '```sh', 'a', '```', '', '```bash', 'b', '```');
  expect(blocks.map(({ skip }) => skip)).toEqual(['needs a cluster', undefined]);
});

test('a skip of the page applies to every block', () => {
  const blocks = page('<!-- skip page: a cluster -->', '', '```sh', 'a', '```', '```sh', 'b', '```');
  expect(blocks.map(({ skip }) => skip)).toEqual(['a cluster', 'a cluster']);
});

test.each(['<!-- skip: -->', '<!-- skip -->', '<!-- skip:   -->', '<!-- skip page: -->'])(
  'a skip without a reason throws (%s)',
  (comment) => {
    expect(() => page(comment, '```sh', 'a', '```')).toThrow('docs/page.md:1: a skip needs a reason');
  },
);

test('a skip that is not before a command block throws', () => {
  expect(() => page('<!-- skip: why -->', '', '```sh', 'a', '```')).toThrow('not before a command block');
  expect(() => page('<!-- skip: why -->', '```json', '{}', '```')).toThrow('not before a command block');
  expect(() => page('<!-- skip page: why -->', 'nothing')).toThrow('nothing to skip');
});

test('every page of the documentation has well-formed skips', () => {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];
  const blocks = pages.flatMap((path) => findCommandBlocks(path, readFileSync(new URL(path, root), 'utf8')));
  expect(blocks.filter(({ skip }) => skip === undefined).length).toBeGreaterThan(20);
});
