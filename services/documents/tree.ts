/** Handles the operations on nodes: create, update, move, delete, reorder, replace the whole tree. */
import { type BodyOf, json, listErrors, newId, type Problem } from '#libs/contract';
import { handle, type Reply, type RequestInfo, reply } from '#libs/http';
import type { Actor, Transaction } from '#libs/store';
import { addWarnings, rejectWarnings } from './content-warnings.ts';
import {
  createNode,
  deleteNode,
  NodeHierarchy,
  reorderNodes,
  replaceTree,
  UnknownNodes,
  updateNode,
} from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { assertEditable } from './editing.ts';
import { canBeChildOf, countBytes } from './rules/hierarchy.ts';
import { hasLineage } from './rules/lineage.ts';
import type { NodeType } from './shapes.ts';
import type { Assets } from './store/assets.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import type { Decision, Updated } from './store/document-change.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { WithEarlyRow } from './store/early-reads.ts';
import { toEtag } from './store/preconditions.ts';
import type { Search } from './store/search.ts';
import type { NodeChange, Trees } from './store/tree.ts';
import { checkLimits, flattenTree } from './tree-input.ts';
import { renderNode } from './tree-json.ts';

/** Handles the operations on nodes. */
export function nodeHandlers({
  repository,
  trees,
  assets,
  search,
  documentReply,
}: {
  repository: DocumentRepository;
  trees: Trees;
  assets: Pick<Assets, 'reference'>;
  search: Pick<Search, 'addNodeWords'>;
  documentReply: DocumentReply;
}) {
  const assertAuthorized = ({ actor, params, authorize }: Omit<EditRequest, 'call'>) =>
    repository.get(actor, params.doc_id, { authorize });

  return [
    handle(
      createNode,
      async ({ actor, params, body, call, authorize }) =>
        repository.respondWithEarlyRead(actor, params.doc_id, async (within, tx) => {
          const request = { actor: within, params, call, authorize };
          const { document, result: node } = await edit(request, async (current, at) => {
            const size = checkLimits({ ...current, node_count: current.node_count + 1 });
            const added = toNode(body, current, actor.user_id, at);
            await assertParent(current, added, added.parent_id, tx);
            await trees.add([added], tx);
            const isIndexed = await search.addNodeWords(current, added.title, tx);
            return { change: size, changesText: !isIndexed, result: added };
          });
          return replyWithNode(document, node);
        }),
      { authorizeReplay: assertAuthorized },
    ),

    handle(updateNode, async ({ actor, params, query, body, call, authorize }) => {
      rejectWarnings(query, body.warnings);
      return repository.respond(actor, params.doc_id, async (within, tx) => {
        const node = await trees.get(within, params, tx);
        const request = { actor: within, params, call, authorize };
        const { document, result: changed } = await edit(request, async (current, at) => {
          const change = toNodeChange(body);
          await assets.reference(within, body.assets, tx);
          if (change.parent_id !== undefined) await assertParent(current, node, change.parent_id, tx);
          const { content = node.content } = change;
          const content_bytes = current.content_bytes - countBytes(node.content) + countBytes(content);
          const size = checkLimits({ ...current, content_bytes });
          const changesText = change.title !== undefined || change.content !== undefined;
          if (hasAll(node, change)) return { change: {}, isUnchanged: true, result: node };
          return { change: size, changesText, result: await trees.change(node, change, at, tx) };
        });
        const descendants = await trees.findDescendants(document, changed, tx);
        return addWarnings(await replyWithNode(document, changed, descendants), body.warnings);
      });
    }),

    handle(deleteNode, async ({ actor, params, call, authorize }) =>
      repository.respond(actor, params.doc_id, async (within, tx) => {
        const node = await trees.get(within, params, tx);
        const { document } = await edit({ actor: within, params, call, authorize }, async (current) => {
          const removed = await trees.remove(current, node, tx);
          const node_count = current.node_count - removed.node_count;
          const content_bytes = current.content_bytes - removed.content_bytes;
          return { change: { node_count, content_bytes }, changesText: true };
        });
        return replyWithEtag(document);
      }),
    ),

    handle(
      reorderNodes,
      async ({ actor, params, body: { nodes }, call, authorize }) =>
        repository.respond(actor, params.doc_id, async (within, tx) => {
          const { document } = await edit({ actor: within, params, call, authorize }, async (current, at) => {
            const ids = nodes.map(({ node_id }) => node_id);
            const orders = await trees.findOrders(current, ids, tx);
            const unknown = ids.flatMap((id, index) => (orders.has(id) ? [] : [index]));
            if (unknown.length > 0) throw unknownNodesProblem(unknown);
            const moved = nodes.filter(({ node_id, order }) => orders.get(node_id) !== order);
            await trees.reorder(moved, at, tx);
            return { change: {}, isUnchanged: moved.length === 0 };
          });
          return replyWithEtag(document);
        }),
      { authorizeReplay: assertAuthorized },
    ),

    handle(
      replaceTree,
      async ({ actor, params, query, body, call, authorize }) => {
        rejectWarnings(query, body.warnings);
        return repository.respond(actor, params.doc_id, async (within, tx) => {
          const request = { actor: within, params, call, authorize };
          const { document, result: nodes } = await edit(request, async (current, at) => {
            const existing = hasLineage(body.nodes) ? await trees.findLineage(current, tx) : undefined;
            const { nodes, ...size } = await flattenTree(current, body.nodes, actor.user_id, at, existing);
            await assets.reference(within, body.assets, tx);
            await trees.removeAll(current, tx);
            await trees.add(nodes, tx);
            return { change: size, changesText: true, result: nodes };
          });
          return addWarnings(await documentReply.fromNodes(document, nodes), body.warnings);
        });
      },
      {
        // a large body is not read in vain, and a small one costs no query
        beforeBody: async ({ isLarge, ...input }) => isLarge && assertAuthorized(input),
      },
    ),
  ];

  /** Updates the row of an editable document that the actor may edit, after `decide` changed its nodes. */
  function edit<D extends Decision>(
    { actor, params, call: { ifMatch }, authorize }: EditRequest,
    decide: (document: DocumentRow, at: Date) => Promise<D>,
  ): Promise<Updated<D>> {
    return repository.update(actor, params.doc_id, { authorize, ifMatch }, async (document, at) => {
      await assertEditable(document, () => repository.getPublishSettings(actor));
      return decide(document, at);
    });
  }

  /** Throws `NodeHierarchy` if the parent is not in the document or cannot have a child of this type. */
  async function assertParent(
    document: DocumentRow,
    { node_type }: { node_type: NodeType },
    parentId: string | null,
    tx: Transaction,
  ): Promise<void> {
    const parent = parentId === null ? undefined : await trees.find(document, parentId, tx);
    const isMissing = parentId !== null && !parent;
    if (isMissing || !canBeChildOf(node_type, parent?.node_type ?? null)) throw NodeHierarchy();
  }
}

/** The parts of a request that an edit needs. */
interface EditRequest {
  actor: Actor & WithEarlyRow;
  params: { doc_id: string };
  call: Pick<RequestInfo, 'ifMatch'>;
  authorize(document: DocumentRow): void;
}

/** Maps a request body to a new node without rich text. */
function toNode(
  { node_type, title, order, parent_id = null }: BodyOf<typeof createNode>,
  { _id: document_id, organization_id }: DocumentRow,
  created_by: string,
  at: Date,
): NodeRow {
  const _id = newId();
  return {
    _id,
    lineage_id: _id,
    organization_id,
    document_id,
    parent_id,
    node_type,
    title,
    content: null,
    order,
    created_by,
    created_at: at,
    updated_at: at,
  };
}

/** Maps a request body to a change of the fields that it contains. */
function toNodeChange({ title, content, order, parent_id }: BodyOf<typeof updateNode>): NodeChange {
  return {
    ...(title !== undefined && { title }),
    ...(content !== undefined && { content }),
    ...(order !== undefined && { order }),
    ...(parent_id !== undefined && { parent_id }),
  };
}

/** Returns true if a node has all values of a change. */
function hasAll(node: NodeRow, change: NodeChange): boolean {
  const {
    title = node.title,
    content = node.content,
    order = node.order,
    parent_id = node.parent_id,
  } = change;
  const isSameText = title === node.title && content === node.content;
  return isSameText && order === node.order && parent_id === node.parent_id;
}

/** Creates the reply with a node, its descendants and the new ETag of the document. */
async function replyWithNode(document: DocumentRow, node: NodeRow, descendants: readonly NodeRow[] = []) {
  return reply(json(await renderNode(node, descendants)), { etag: toEtag(document) });
}

/** Creates the reply without a body, with the new ETag of the document. */
function replyWithEtag(document: DocumentRow): Reply<undefined> {
  return reply(undefined, { etag: toEtag(document) });
}

function unknownNodesProblem(indexes: readonly number[]): Problem {
  const message = 'This node is not in the document';
  const errors = indexes.map((index) => ({ path: `body/nodes/${index}/node_id`, message }));
  return listErrors(UnknownNodes, errors);
}
