/** Showing: a document with its tree as the answer of an operation, its bytes kept in memory by version. */
import { type Json, json } from '#libs/contract';
import { type ReplayKey, type Reply, renderCache, reply } from '#libs/http';
import type { Actor } from '#libs/store';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import { etagOf } from './store/preconditions.ts';
import type { Trees } from './store/tree.ts';
import { documentBytes } from './tree-json.ts';

/** What showing needs. */
export interface DocumentReplyDeps {
  library: Pick<DocumentRepository, 'find' | 'whole'>;
  trees: Pick<Trees, 'batches'>;
  /** Bytes of rendered documents kept in memory. */
  cacheBytes: number;
}

/** Makes the answers of operations that give a whole document. */
export function createDocumentReply({ library, trees, cacheBytes }: DocumentReplyDeps) {
  // nothing is kept of a document that changed while it was read
  const rendered = renderCache<Buffer>(cacheBytes);

  const show = {
    /** The answer with a document and its nodes as they were just written. */
    async made(document: DocumentRow, nodes: readonly NodeRow[]): Promise<Reply<Json>> {
      return shown(document, await documentBytes(document, [nodes]));
    },

    /** The answer with a document whose row was just read or written; as it is then when it has changed since. */
    async row(acting: Actor, document: DocumentRow): Promise<Reply<Json>> {
      const bytes = await rendered.getOrRender(keyOf(document), () => render(acting, document));
      if (bytes) return shown(document, bytes);
      const whole = await library.whole(acting, document._id);
      return show.made(whole.document, whole.nodes);
    },

    /** The answer with a document as it is now; `NotFound`. Its small row is read every time. */
    async now(acting: Actor, id: string): Promise<Reply<Json>> {
      return show.row(acting, await library.find(acting, id));
    },

    /** The response to a repeated request whose first response was too long to store: the document as it is now. */
    replay: ({ actor }: { actor: Actor }, { doc_id = '' }: ReplayKey) => show.now(actor, doc_id),
  };
  return show;

  async function render(acting: Actor, document: DocumentRow): Promise<Buffer | undefined> {
    const bytes = await documentBytes(document, trees.batches(document));
    const { row_version } = await library.find(acting, document._id);
    return row_version === document.row_version ? bytes : undefined;
  }
}

export type DocumentReply = ReturnType<typeof createDocumentReply>;

function shown(document: DocumentRow, bytes: Buffer): Reply<Json> {
  return reply(json(bytes), { etag: etagOf(document), replayKey: { doc_id: document._id } });
}

/** All that the bytes depend on. The time keeps versions apart that MongoDB counted twice after it lost the first. */
function keyOf({ _id, row_version, updated_at }: DocumentRow): string {
  return `${_id}/${row_version}/${updated_at.getTime()}`;
}
