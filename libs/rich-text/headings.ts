/** Finds the levels of the headings in a text, so that renderers can shift them below a heading of the page. */
import { getInteger } from './attributes.ts';
import type { RichText } from './tree.ts';

/** The top heading level in use; content that starts at level 2 must not skip a level in the page. */
export function findTopLevel(node: RichText): number {
  if (node.type === 'heading') return getLevel(node);
  let top = 6;
  for (const child of node.content ?? []) top = Math.min(top, findTopLevel(child));
  return top;
}

/** The level of a heading, 1 to 6. */
export function getLevel(heading: RichText): number {
  return getInteger(heading, 'level', 1, 6) ?? 1;
}
