/** The invariant of content hashes, which are computed again from the stored words. */
import { computeContentHash } from '../../../services/documents/content-hash.ts';
import {
  type DocumentRow,
  documents,
  type NodeRow,
  nodes,
} from '../../../services/documents/store/collections.ts';
import type { Invariant } from './invariant.ts';
import type { Scan } from './scan.ts';

type Words = 'title' | 'version' | 'department' | 'content_hash';

/** A document with one of its nodes, or without any if it has none. */
type Joined = Pick<DocumentRow, '_id' | 'status' | 'approval' | Words> & {
  node?: NodeRow;
};

const stages = [
  { $match: { content_hash: { $type: 'string' } } },
  // with $unwind, the nodes of a document may exceed the size limit of a row, 16 MiB
  { $lookup: { from: nodes.name, localField: '_id', foreignField: 'document_id', as: 'node' } },
  { $unwind: { path: '$node', preserveNullAndEmptyArrays: true } },
  { $project: { status: 1, approval: 1, title: 1, version: 1, department: 1, content_hash: 1, node: 1 } },
];

export const contentHashInvariant: Invariant = {
  name: `${documents.name}.content_hash`,
  description:
    'A content hash belongs to a version that is or was published, or to a draft in approval, and is that of its words.',
  async *find(scan) {
    for await (const [document, documentNodes] of readDocuments(scan)) {
      const { _id, status, approval, content_hash } = document;
      const isEditable = status === 'draft' && approval == null;
      if (isEditable || (await computeContentHash(document, documentNodes)) !== content_hash) yield _id;
    }
  },
};

/** Reads each document that has a content hash, with its nodes. The rows of a document follow each other. */
async function* readDocuments(scan: Scan): AsyncGenerator<[Joined, NodeRow[]]> {
  let current: [Joined, NodeRow[]] | undefined;
  for await (const row of scan.rows(documents.name, stages, 200)) {
    // the projection has these fields
    const joined = row as unknown as Joined;
    if (joined._id !== current?.[0]._id) {
      if (current) yield current;
      current = [joined, []];
    }
    if (joined.node) current[1].push(joined.node);
  }
  if (current) yield current;
}
