/** Finds the direction of a document, and marks runs from right to left. */
import { type Direction, getFirstDirection } from '#libs/rich-text';
import type { ExportNode, WordDocument } from '../document.ts';

/** The property of a run from right to left. Word then takes its sizes and formats for complex scripts. */
export const RTL = '<w:rtl/>';

/** Returns the direction of the first title with letters, as on the public page; left to right without one. */
export function findDocumentDirection({ title, nodes }: Pick<WordDocument, 'title' | 'nodes'>): Direction {
  return getFirstDirection([...listTitles(nodes), title]);
}

function* listTitles(nodes: readonly ExportNode[]): Generator<string> {
  for (const node of nodes) {
    yield node.title;
    yield* listTitles(node.children);
  }
}
