/** Tests that circles of imports are found. */
import { expect, test } from '@jest/globals';
import { createImportGraph, findCircles, findReachable } from './import-graph.ts';

const toSource = (path: string, values: string[], types: string[] = []) => ({
  path,
  text: '',
  imports: [...values, ...types],
  values,
});
const sources = [
  toSource('libs/a/mod.ts', ['libs/a/x.ts', 'zod']),
  toSource('libs/a/x.ts', ['libs/a/y.ts'], ['libs/a/z.ts']),
  toSource('libs/a/y.ts', ['#libs/a']),
  toSource('libs/a/z.ts', [], ['libs/a/x.ts']),
];

test('files that import each other over #libs are a circle', () => {
  const circle = ['libs/a/mod.ts', 'libs/a/x.ts', 'libs/a/y.ts'];
  expect(findCircles(createImportGraph(sources, 'values'))).toEqual([circle]);
});

test('a circle of types is found among all imports only', () => {
  const [, x, , z] = sources;
  const pair = [x, z].filter((source) => source !== undefined);
  expect(findCircles(createImportGraph(pair, 'values'))).toEqual([]);
  expect(findCircles(createImportGraph(pair, 'imports'))).toEqual([['libs/a/x.ts', 'libs/a/z.ts']]);
});

test('a file reaches what its imports import', () => {
  const graph = createImportGraph(sources, 'imports');
  expect([...findReachable(graph, 'libs/a/z.ts')].sort()).toEqual(sources.map(({ path }) => path).sort());
});
