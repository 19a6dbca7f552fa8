/** Replies with a document and its whole tree. Rendered documents are cached in memory by version. */
import { type Json, json } from '#libs/contract';
import { type ReplayKey, type Reply, type RequestInfo, renderCache, reply, type Version } from '#libs/http';
import type { Actor } from '#libs/store';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import { toEtag } from './store/preconditions.ts';
import type { Trees } from './store/tree.ts';
import { renderChanged, renderDocument, renderNodes } from './tree-json.ts';

/** The dependencies of `createDocumentReply`. */
export interface DocumentReplyDeps {
  repository: Pick<DocumentRepository, 'get' | 'getWithNodes'>;
  trees: Pick<Trees, 'readBatches'>;
  /** The size of the cache of rendered documents, bytes. */
  cacheBytes: number;
}

/** Creates the replies of the operations that return a whole document. */
export function createDocumentReply({ repository, trees, cacheBytes }: DocumentReplyDeps) {
  const cache = renderCache(cacheBytes);

  const documentReply = {
    /** Replies with a document and the nodes that were just written. */
    async fromNodes(document: DocumentRow, nodes: readonly NodeRow[]): Promise<Reply<Json>> {
      return toReply(document, await renderDocument(document, await renderNodes([nodes])));
    },

    /** Renders a document whose row is about to change. Reads its nodes, unless they are cached. */
    async renderBefore(document: DocumentRow): Promise<Uint8Array> {
      return cache.get(toCacheKey(document)) ?? renderStored(document);
    },

    /** Replies with a document whose row was just changed outside of a transaction, and with the nodes from before. */
    async fromRendered(document: DocumentRow, before: Uint8Array): Promise<Reply<Json>> {
      const bytes = renderChanged(document, before);
      await cache.read({ open: async () => toVersion(document, async () => bytes), maxAttempts: 1 });
      return toReply(document, bytes);
    },

    /** Replies with a document whose row was just read, or with its state if it changed since. */
    async fromRow(
      actor: Actor,
      document: DocumentRow,
      call?: Pick<RequestInfo, 'hasCurrent'>,
    ): Promise<Reply<Json>> {
      const open = async () => toVersion(document, () => renderUnchanged(actor, document));
      const found = await cache.read({ open, call, maxAttempts: 1 });
      if (found) return toReply(document, found.bytes);
      const current = await repository.getWithNodes(actor, document._id);
      return documentReply.fromNodes(current.document, current.nodes);
    },

    /**
     * Replies with the current document, or throws `NotFound`. Reads its (small) row every time, and its nodes
     * unless they are cached or the client of `call` has them.
     */
    async load(actor: Actor, id: string, call?: Pick<RequestInfo, 'hasCurrent'>): Promise<Reply<Json>> {
      return documentReply.fromRow(actor, await repository.get(actor, id), call);
    },

    /** Replays a response that was too large to store, with the current state of the document. */
    replay: ({ actor }: { actor: Actor }, { doc_id = '' }: ReplayKey) => documentReply.load(actor, doc_id),
  };
  return documentReply;

  async function renderStored(document: DocumentRow): Promise<Uint8Array> {
    return renderDocument(document, await renderNodes(trees.readBatches(document)));
  }

  function toVersion(document: DocumentRow, render: Version['render']): Version {
    return { etag: toEtag(document), cacheKey: toCacheKey(document), render };
  }

  /** Returns undefined if the document changed while its nodes were read. */
  async function renderUnchanged(actor: Actor, document: DocumentRow): Promise<Uint8Array | undefined> {
    const bytes = await renderStored(document);
    if (document.node_count === 0) return bytes;
    const { row_version } = await repository.get(actor, document._id);
    return row_version === document.row_version ? bytes : undefined;
  }
}

export type DocumentReply = ReturnType<typeof createDocumentReply>;

function toReply(document: DocumentRow, bytes: Uint8Array): Reply<Json> {
  return reply(json(bytes), { etag: toEtag(document), replayKey: { doc_id: document._id } });
}

/**
 * Identifies the rendered version of a document. MongoDB can lose a version in a failover and count the same
 * number again, so the key also contains the time of the change.
 */
function toCacheKey({ _id, row_version, updated_at }: DocumentRow): string {
  return `${_id}/${row_version}/${updated_at.getTime()}`;
}
