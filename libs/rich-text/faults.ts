/** Says whether a value from outside is rich text that can be kept, and if not, everything that is wrong with it. */
import { findAttributeFaults, isRecord } from './attributes.ts';
import type { RichText } from './tree.ts';

type Fault = { path: string; message: string };
type Limits = { maxDepth: number; maxBytes: number };
type Waiting = { value: unknown; path: string; depth: number };

const defaults: Limits = { maxDepth: 32, maxBytes: 512 * 1024 };
const unlimited: Limits = { maxDepth: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };
const maxFaults = 50;
const nodeFields = new Set(['type', 'content', 'text', 'marks', 'attrs']);
const markFields = new Set(['type', 'attrs']);

/**
 * Every fault of a value that should be rich text, at most 50, and none when it is fine; `path` is like "content/0/marks/1",
 * the root's is empty. `maxDepth` (32) counts nested `content` arrays, `maxBytes` (524,288) the UTF-8 bytes of its JSON.
 */
export function findFaults(value: unknown, limits: Limits = defaults): Fault[] {
  const found: Fault[] = [];
  for (const fault of findTreeFaults(value, limits)) {
    if (found.push(fault) === maxFaults) break;
  }
  return found;
}

/** Whether the value has the form of rich text, whatever its depth and size. */
export function isRichText(value: unknown): value is RichText {
  return findFaults(value, unlimited).length === 0;
}

function* findTreeFaults(value: unknown, limits: Limits): Generator<Fault> {
  if (isRecord(value) && countBytes(value, limits) > limits.maxBytes) {
    yield { path: '', message: `must be at most ${limits.maxBytes} bytes as JSON` };
  }
  const waiting: Waiting[] = [{ value, path: '', depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield* findNodeFaults(next.value, next.path);
    const children = isRecord(next.value) ? next.value.content : undefined;
    if (!Array.isArray(children)) continue;
    const path = appendPath(next.path, 'content');
    if (next.depth === limits.maxDepth) {
      yield { path, message: `must not be nested deeper than ${limits.maxDepth} content arrays` };
      continue;
    }
    for (let index = children.length - 1; index >= 0; index--) {
      waiting.push({ value: children[index], path: appendPath(path, index), depth: next.depth + 1 });
    }
  }
}

function* findNodeFaults(node: unknown, path: string): Generator<Fault> {
  if (!isRecord(node)) {
    yield { path, message: 'must be an object with a type' };
    return;
  }
  yield* findShapeFaults(node, path, nodeFields);
  if (node.text !== undefined && typeof node.text !== 'string') {
    yield { path: appendPath(path, 'text'), message: 'must be a string' };
  }
  if (node.content !== undefined && !Array.isArray(node.content)) {
    yield { path: appendPath(path, 'content'), message: 'must be an array' };
  }
  if (node.marks === undefined) return;
  const marks = appendPath(path, 'marks');
  if (!Array.isArray(node.marks)) {
    yield { path: marks, message: 'must be an array' };
    return;
  }
  for (const [index, mark] of node.marks.entries()) {
    if (isRecord(mark)) yield* findShapeFaults(mark, appendPath(marks, index), markFields);
    else yield { path: appendPath(marks, index), message: 'must be an object with a type' };
  }
}

/** What nodes and marks have in common: a type, perhaps attributes, and no field besides those known. */
function* findShapeFaults(
  value: Record<string, unknown>,
  path: string,
  fields: Set<string>,
): Generator<Fault> {
  if (typeof value.type !== 'string' || value.type === '') {
    yield { path: appendPath(path, 'type'), message: 'must be a non-empty string' };
  }
  for (const key of Object.keys(value)) {
    if (!fields.has(key)) yield { path: appendPath(path, key), message: 'is not a field of rich text' };
  }
  if (value.attrs === undefined) return;
  if (isRecord(value.attrs)) yield* findAttributeFaults(value.attrs, appendPath(path, 'attrs'));
  else yield { path: appendPath(path, 'attrs'), message: 'must be an object' };
}

/** The size as JSON in UTF-8; what cannot be written as JSON (too deep for the machine, cyclic) is over every limit. */
function countBytes(value: unknown, limits: Limits): number {
  if (limits.maxBytes === Number.POSITIVE_INFINITY) return 0;
  try {
    return new TextEncoder().encode(JSON.stringify(value)).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** One step down a path; a key from outside is cut, so that no answer repeats a megabyte of it. */
function appendPath(path: string, key: string | number): string {
  const step = String(key).slice(0, 64);
  return path === '' ? step : `${path}/${step}`;
}
