/** The graph of imports among files: its circles, and what a file reaches. */
import type { Source } from './sources.ts';

/** The imports of each file, by its path. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Creates the graph of the files: of all their imports, or of the imports of values only. */
export function createImportGraph(files: readonly Source[], kind: 'imports' | 'values'): ImportGraph {
  const paths = new Set(files.map(({ path }) => path));
  const toPath = (target: string) => target.replace(/^#libs\/([a-z-]+)$/, 'libs/$1/mod.ts');
  return new Map(files.map((file) => [file.path, file[kind].map(toPath).filter((path) => paths.has(path))]));
}

/** All files that a file reaches, and the file itself. */
export function findReachable(graph: ImportGraph, from: string): Set<string> {
  const reached = new Set([from]);
  // a set also iterates over what is added meanwhile
  for (const path of reached) for (const target of graph.get(path) ?? []) reached.add(target);
  return reached;
}

/** The groups of files that import each other, directly or indirectly, each sorted. */
export function findCircles(graph: ImportGraph): string[][] {
  const reachable = new Map([...graph.keys()].map((path) => [path, findReachable(graph, path)]));
  const circles = [...graph].flatMap(([path, targets]) => {
    const others = [...(reachable.get(path) ?? [])].filter((other) => reachable.get(other)?.has(path));
    return others.length > 1 || targets.includes(path) ? [others.sort().join(' ')] : [];
  });
  return [...new Set(circles)].map((circle) => circle.split(' '));
}
