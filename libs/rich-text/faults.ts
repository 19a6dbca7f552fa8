/** Says whether a value from outside is rich text that can be kept, and if not, everything that is wrong with it. */
import { faultsOfAttributes, isRecord } from './attributes.ts';
import type { RichText } from './tree.ts';

type Fault = { path: string; message: string };
type Limits = { maxDepth: number; maxBytes: number };
type Waiting = { value: unknown; path: string; depth: number };

const defaults: Limits = { maxDepth: 32, maxBytes: 512 * 1024 };
const none: Limits = { maxDepth: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };
const most = 50;
const fieldsOfNode = new Set(['type', 'content', 'text', 'marks', 'attrs']);
const fieldsOfMark = new Set(['type', 'attrs']);

/**
 * Every fault of a value that should be rich text, at most 50, and none when it is fine; `path` is like "content/0/marks/1",
 * the root's is empty. `maxDepth` (32) counts nested `content` arrays, `maxBytes` (524,288) the UTF-8 bytes of its JSON.
 */
export function findFaults(value: unknown, limits: Limits = defaults): Fault[] {
  const found: Fault[] = [];
  for (const fault of faultsOfTree(value, limits)) {
    if (found.push(fault) === most) break;
  }
  return found;
}

/** Whether the value has the form of rich text, whatever its depth and size. */
export function isRichText(value: unknown): value is RichText {
  return findFaults(value, none).length === 0;
}

function* faultsOfTree(value: unknown, limits: Limits): Generator<Fault> {
  if (isRecord(value) && bytesOf(value, limits) > limits.maxBytes) {
    yield { path: '', message: `must be at most ${limits.maxBytes} bytes as JSON` };
  }
  const waiting: Waiting[] = [{ value, path: '', depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield* faultsOfNode(next.value, next.path);
    const children = isRecord(next.value) ? next.value.content : undefined;
    if (!Array.isArray(children)) continue;
    const path = below(next.path, 'content');
    if (next.depth === limits.maxDepth) {
      yield { path, message: `must not be nested deeper than ${limits.maxDepth} content arrays` };
      continue;
    }
    for (let index = children.length - 1; index >= 0; index--) {
      waiting.push({ value: children[index], path: below(path, index), depth: next.depth + 1 });
    }
  }
}

function* faultsOfNode(node: unknown, path: string): Generator<Fault> {
  if (!isRecord(node)) {
    yield { path, message: 'must be an object with a type' };
    return;
  }
  yield* faultsOfForm(node, path, fieldsOfNode);
  if (node.text !== undefined && typeof node.text !== 'string') {
    yield { path: below(path, 'text'), message: 'must be a string' };
  }
  if (node.content !== undefined && !Array.isArray(node.content)) {
    yield { path: below(path, 'content'), message: 'must be an array' };
  }
  if (node.marks === undefined) return;
  const marks = below(path, 'marks');
  if (!Array.isArray(node.marks)) {
    yield { path: marks, message: 'must be an array' };
    return;
  }
  for (const [index, mark] of node.marks.entries()) {
    if (isRecord(mark)) yield* faultsOfForm(mark, below(marks, index), fieldsOfMark);
    else yield { path: below(marks, index), message: 'must be an object with a type' };
  }
}

/** What nodes and marks have in common: a type, perhaps attributes, and no field besides those known. */
function* faultsOfForm(value: Record<string, unknown>, path: string, fields: Set<string>): Generator<Fault> {
  if (typeof value.type !== 'string' || value.type === '') {
    yield { path: below(path, 'type'), message: 'must be a non-empty string' };
  }
  for (const key of Object.keys(value)) {
    if (!fields.has(key)) yield { path: below(path, key), message: 'is not a field of rich text' };
  }
  if (value.attrs === undefined) return;
  if (isRecord(value.attrs)) yield* faultsOfAttributes(value.attrs, below(path, 'attrs'));
  else yield { path: below(path, 'attrs'), message: 'must be an object' };
}

/** The size as JSON in UTF-8; what cannot be written as JSON (too deep for the machine, cyclic) is over every limit. */
function bytesOf(value: unknown, limits: Limits): number {
  if (limits.maxBytes === Number.POSITIVE_INFINITY) return 0;
  try {
    return new TextEncoder().encode(JSON.stringify(value)).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** One step down a path; a key from outside is cut, so that no answer repeats a megabyte of it. */
function below(path: string, key: string | number): string {
  const step = String(key).slice(0, 64);
  return path === '' ? step : `${path}/${step}`;
}
