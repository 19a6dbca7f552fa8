/** Computes the content hash of a document, which names its words and not its place, people or time. */
import { createHash } from 'node:crypto';
import { startTimeSlices } from '#libs/workers';
import {
  type CanonicalFields,
  type CanonicalNode,
  writeCanonicalContent,
} from './rules/canonical-content.ts';

/** Returns `sha256:` and 64 hexadecimal digits. Lets other requests run every 10 ms. */
export async function computeContentHash(
  document: CanonicalFields,
  nodes: Iterable<CanonicalNode>,
): Promise<string> {
  const hash = createHash('sha256');
  const slices = startTimeSlices();
  for (const part of writeCanonicalContent(document, nodes)) {
    hash.update(part);
    if (slices.isOver()) await slices.next();
  }
  return `sha256:${hash.digest('hex')}`;
}
