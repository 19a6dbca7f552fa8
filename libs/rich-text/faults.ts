/** Validates untrusted values as rich text and lists everything that is wrong with them. */
import { findAttributeFaults, isRecord } from './attributes.ts';

type Fault = { path: string; message: string };
type Limits = { maxDepth: number; maxBytes: number; maxFaults: number };
type Pending = { value: unknown; path: string; depth: number };

/** The maximum size of rich text, bytes of JSON. */
export const maxRichTextBytes = 512 * 1024;

const defaults: Limits = { maxDepth: 32, maxBytes: maxRichTextBytes, maxFaults: 20 };
const nodeFields = new Set(['type', 'content', 'text', 'marks', 'attrs']);
const markFields = new Set(['type', 'attrs']);

/**
 * Lists the first faults of a value in reading order; the list is empty if the value is valid rich text. A
 * `path` looks like "content/0/marks/1"; the root's path is empty. `maxDepth` (default 32) limits nested
 * `content` arrays, `maxBytes` (default 524,288) the UTF-8 bytes of the JSON, `maxFaults` (default 20) the list.
 */
export function findFaults(value: unknown, options: Partial<Limits> = {}): Fault[] {
  const limits = { ...defaults, ...options };
  const found: Fault[] = [];
  for (const fault of findTreeFaults(value, limits)) {
    if (found.push(fault) >= limits.maxFaults) break;
  }
  return found;
}

function* findTreeFaults(value: unknown, limits: Limits): Generator<Fault> {
  if (isRecord(value) && countBytes(value, limits) > limits.maxBytes) {
    yield { path: '', message: `must be at most ${limits.maxBytes} bytes as JSON` };
  }
  const pending: Pending[] = [{ value, path: '', depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    yield* findNodeFaults(next.value, next.path);
    const children = isRecord(next.value) ? next.value.content : undefined;
    if (!Array.isArray(children)) continue;
    const path = appendPath(next.path, 'content');
    if (next.depth === limits.maxDepth) {
      yield { path, message: `must not be nested deeper than ${limits.maxDepth} content arrays` };
      continue;
    }
    for (let index = children.length - 1; index >= 0; index--) {
      pending.push({ value: children[index], path: appendPath(path, index), depth: next.depth + 1 });
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

/** Checks what nodes and marks have in common: a type, optional attributes and no unknown fields. */
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

/** The UTF-8 size of the JSON; infinite if a value cannot be serialized (cyclic or too deep). */
function countBytes(value: unknown, limits: Limits): number {
  if (limits.maxBytes === Number.POSITIVE_INFINITY) return 0;
  try {
    return new TextEncoder().encode(JSON.stringify(value)).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Appends a key to a path; keys are cut to 64 characters, because an untrusted key can be megabytes long. */
function appendPath(path: string, key: string | number): string {
  const segment = String(key).slice(0, 64);
  return path === '' ? segment : `${path}/${segment}`;
}
