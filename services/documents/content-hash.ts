/** Computes the content hash of a document, which names its words and not its place, people or time. */
import { createHash } from 'node:crypto';
import { runInSlices, type SlicedWork } from '#libs/workers';
import {
  type CanonicalFields,
  type CanonicalNode,
  writeCanonicalContent,
} from './rules/canonical-content.ts';

/** Resolves with `sha256:` and 64 hexadecimal digits. Lets other requests run every 2 ms. */
export function computeContentHash(
  document: CanonicalFields,
  nodes: Iterable<CanonicalNode>,
): Promise<string> {
  return runInSlices(hash(document, nodes));
}

function* hash(document: CanonicalFields, nodes: Iterable<CanonicalNode>): SlicedWork<string> {
  const sum = createHash('sha256');
  for (const part of writeCanonicalContent(document, nodes)) {
    sum.update(part);
    yield;
  }
  return `sha256:${sum.digest('hex')}`;
}
