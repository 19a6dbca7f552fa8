/** The size that a document is charged with: blocks, so that most changes of a document do not change it. */
import type { TreeSize } from './hierarchy.ts';

/** The size of a block, bytes. */
export const blockBytes = 64 * 1024;

/** What a node is charged with in addition to its rich text: its title and its row. */
export const nodeBytes = 1024;

/** Returns the number of blocks of a document: at least one, and one more for each 64 KiB of nodes and rich text. */
export function countBlocks({ node_count, content_bytes }: TreeSize): number {
  return 1 + Math.floor((content_bytes + node_count * nodeBytes) / blockBytes);
}
