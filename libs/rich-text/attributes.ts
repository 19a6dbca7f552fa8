/** Validates and reads the attributes of nodes and marks; only their depth and their numbers are limited. */
import type { Mark, RichText } from './tree.ts';

const maxDepth = 32;

/** Whether a value is an object, but neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The trimmed attribute if it is a string, else ''. */
export function getString({ attrs }: RichText | Mark, name: string): string {
  const value = attrs?.[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** The attribute if it is an integer from `min` to `max`, else undefined. */
export function getInteger(
  { attrs }: RichText | Mark,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const value = attrs?.[name];
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  return value >= min && value <= max ? value : undefined;
}

/**
 * Yields a fault if values are nested deeper than 32, or if a number is not finite, which `JSON.stringify` would write
 * as null. Any name is valid, because storage is JSON text.
 */
export function* findAttributeFaults(
  attributes: Record<string, unknown>,
  path: string,
): Generator<{ path: string; message: string }> {
  const pending: { value: unknown; depth: number }[] = [{ value: attributes, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (typeof next.value === 'number' && !Number.isFinite(next.value)) {
      yield { path, message: 'must not contain numbers that are too large for a double, such as 1e400' };
      return;
    }
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth === maxDepth) {
      yield { path, message: `must not contain values nested deeper than ${maxDepth}` };
      return;
    }
    for (const value of Object.values(next.value)) pending.push({ value, depth: next.depth + 1 });
  }
}
