/** Attributes of nodes and marks: free in what they say, bounded in depth; and how to read them. */
import type { Mark, RichText } from './tree.ts';

const maxDepth = 32;

/** Whether a value is an object with keys: not null and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The attribute if it is a string that says something, else ''. */
export function getString({ attrs }: RichText | Mark, name: string): string {
  const value = attrs?.[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** The attribute if it is a whole number from `least` to `most`, else undefined. */
export function getInteger(
  { attrs }: RichText | Mark,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = attrs?.[name];
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  return value >= least && value <= most ? value : undefined;
}

/** The faults of one `attrs` object: values nested deeper than 32. Any name is fine: rich text is kept as JSON text. */
export function* findAttributeFaults(
  attributes: Record<string, unknown>,
  path: string,
): Generator<{ path: string; message: string }> {
  const waiting: { value: unknown; depth: number }[] = [{ value: attributes, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth === maxDepth) {
      yield { path, message: `must not hold values nested deeper than ${maxDepth}` };
      return;
    }
    for (const value of Object.values(next.value)) waiting.push({ value, depth: next.depth + 1 });
  }
}
