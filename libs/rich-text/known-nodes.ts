/** Lists the nodes that renderers know; docs, warnings and the API reference are made from their declarations. */
import { knownBlocks } from './known-blocks.ts';
import { knownLeaves } from './known-leaves.ts';
import type { KnownNode } from './known-types.ts';

/** The nodes, in the order of the docs. */
export const knownNodes: readonly KnownNode[] = [...knownBlocks, ...knownLeaves];
