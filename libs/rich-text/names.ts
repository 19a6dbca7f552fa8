/** Resolves the names of ProseMirror's own schemas to those of Tiptap, which renderers use. */
import { knownMarks } from './known-marks.ts';
import { knownNodes } from './known-nodes.ts';
import { renameAttributes } from './known-types.ts';
import type { Mark, RichText } from './tree.ts';

type Known = (typeof knownNodes)[number] | (typeof knownMarks)[number];

/** The declarations by each of their names. */
const nodes = byName(knownNodes);
const marks = byName(knownMarks);

/** The declaration of a node's type under any of its names; undefined for an unknown type. */
export function findKnownNode(type: string) {
  return nodes.get(type);
}

/** The declaration of a mark's type under any of its names; undefined for an unknown type. */
export function findKnownMark(type: string) {
  return marks.get(type);
}

/** The node with Tiptap's names of its type and attributes; not those of its marks and children. */
export function resolveNode(node: RichText): RichText {
  return resolve(node, nodes.get(node.type));
}

/** The marks with Tiptap's names of their types and attributes. */
export function resolveMarks(written: readonly Mark[]): Mark[] {
  return written.map((mark) => resolve(mark, marks.get(mark.type)));
}

function resolve<T extends RichText | Mark>(value: T, known: Known | undefined): T {
  if (!known || (known.type === value.type && !value.attrs)) return value;
  const attrs = value.attrs && renameAttributes(known, value.attrs);
  if (known.type === value.type && attrs === value.attrs) return value;
  return attrs ? { ...value, type: known.type, attrs } : { ...value, type: known.type };
}

function byName<T extends { type: string; aliases: readonly string[] }>(
  known: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(known.flatMap((each) => [each.type, ...each.aliases].map((name) => [name, each])));
}
