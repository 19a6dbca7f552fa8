/** Handles the operations on nodes: create, update, move, delete, reorder, replace the whole tree. */
import { type BodyOf, json, NotFound, newId, type Problem } from '#libs/contract';
import { handle, type Reply, type RequestInfo, reply } from '#libs/http';
import type { Actor, Transaction } from '#libs/store';
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
import { assertEditable, requireEditor } from './editing.ts';
import { canBeChildOf, countBytes } from './rules/hierarchy.ts';
import type { Principal } from './rules/permission.ts';
import type { NodeType } from './shapes.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import type { Decision, DocumentRepository } from './store/document-repository.ts';
import { toEtag } from './store/preconditions.ts';
import type { NodeChange, Trees } from './store/tree.ts';
import { checkLimits, flattenTree } from './tree-input.ts';
import { renderNode } from './tree-json.ts';

/** Handles the operations on nodes. */
export function nodeHandlers({
  repository,
  trees,
  documentReply,
}: {
  repository: DocumentRepository;
  trees: Trees;
  documentReply: DocumentReply;
}) {
  const authorizeReplay = ({ actor, params }: EditRequest) =>
    repository.check(actor, params.doc_id, requireEditor(actor));

  return [
    handle(
      createNode,
      async (request) => {
        const { node_type, title, order, parent_id = null } = request.body;
        return edit(request, async ({ document, tx, at }) => {
          const size = checkLimits({ ...document, node_count: document.node_count + 1 });
          const node: NodeRow = {
            _id: newId(),
            organization_id: document.organization_id,
            document_id: document._id,
            parent_id: await resolveParent(node_type, parent_id, document, tx),
            node_type,
            title,
            content: null,
            order,
            created_by: request.actor.user_id,
            created_at: at,
            updated_at: at,
          };
          await trees.add([node], tx);
          return { change: size, reply: nodeReply(node) };
        });
      },
      { authorizeReplay },
    ),

    handle(updateNode, async (request) =>
      editNode(request, async ({ document, node, tx, at }) => {
        const change = await toNodeChange(node, request.body, document, tx);
        const content_bytes =
          'content' in change
            ? document.content_bytes - countBytes(node.content) + countBytes(change.content ?? null)
            : document.content_bytes;
        const size = checkLimits({ ...document, content_bytes });
        const changed = await trees.change(node, change, at, tx);
        return {
          change: size,
          reply: nodeReply(changed, await trees.findDescendants(document, changed, tx)),
        };
      }),
    ),

    handle(deleteNode, async (request) =>
      editNode(request, async ({ document, node, tx }) => {
        const removed = await trees.remove(document, node, tx);
        const node_count = document.node_count - removed.node_count;
        const content_bytes = document.content_bytes - removed.content_bytes;
        return { change: { node_count, content_bytes }, reply: emptyReply };
      }),
    ),

    handle(
      reorderNodes,
      async (request) => {
        const { nodes } = request.body;
        return edit(request, async ({ document, tx, at }) => {
          const ids = nodes.map(({ node_id }) => node_id);
          const orders = await trees.findOrders(document, ids, tx);
          const unknown = ids.flatMap((id, index) => (orders.has(id) ? [] : [index]));
          if (unknown.length > 0) throw unknownNodesProblem(unknown);
          const moved = nodes.filter(({ node_id, order }) => orders.get(node_id) !== order);
          await trees.reorder(moved, at, tx);
          return { change: {}, reply: emptyReply };
        });
      },
      { authorizeReplay },
    ),

    handle(replaceTree, async (request) =>
      edit(request, async ({ document, tx, at }) => {
        const { nodes, ...size } = flattenTree(document, request.body.nodes, request.actor.user_id, at);
        await trees.removeAll(document, tx);
        await trees.add(nodes, tx);
        return { change: size, reply: (document: DocumentRow) => documentReply.fromNodes(document, nodes) };
      }),
    ),
  ];

  /** Changes the tree of an editable document that the actor may edit. Returns the reply of `decide`. */
  function edit<R>(
    { actor, params, call }: EditRequest,
    decide: (context: EditContext) => Promise<Decision<R>>,
    findRelated?: (document: DocumentRow, tx: Transaction) => Promise<void>,
  ): Promise<R> {
    const preconditions = {
      authorize: requireEditor(actor),
      ifMatch: call.ifMatch,
      ...(findRelated && { loadRelated: findRelated }),
    };
    return repository.change(actor, params.doc_id, preconditions, async (document, tx, at) => {
      await assertEditable(document, () => repository.locksPublished(actor, tx));
      return decide({ document, tx, at });
    });
  }

  /** Like `edit`, for one node. Throws `NotFound` first if the document has no such node. */
  function editNode<R>(
    request: EditRequest & { params: { node_id: string } },
    decide: (context: EditContext & { node: NodeRow }) => Promise<Decision<R>>,
  ): Promise<R> {
    let node!: NodeRow;
    const findNode = async (document: DocumentRow, tx: Transaction) => {
      const found = await trees.find(document, request.params.node_id, tx);
      if (!found) throw NotFound();
      node = found;
    };
    return edit(request, (context) => decide({ ...context, node }), findNode);
  }

  /** Returns the parent id if a node of this type can be its child, or throws `NodeHierarchy`. */
  async function resolveParent(
    type: NodeType,
    parentId: string | null,
    document: DocumentRow,
    tx: Transaction,
  ): Promise<string | null> {
    const parent = parentId === null ? undefined : await trees.find(document, parentId, tx);
    const isMissing = parentId !== null && !parent;
    if (isMissing || !canBeChildOf(type, parent?.node_type ?? null)) throw NodeHierarchy();
    return parentId;
  }

  /** Maps a request body to the change of a node. */
  async function toNodeChange(
    node: NodeRow,
    { title, content, order, parent_id }: UpdateBody,
    document: DocumentRow,
    tx: Transaction,
  ): Promise<NodeChange> {
    return {
      ...(title !== undefined && { title }),
      ...(content !== undefined && { content: content && JSON.stringify(content) }),
      ...(order !== undefined && { order }),
      ...(parent_id !== undefined && {
        parent_id: await resolveParent(node.node_type, parent_id, document, tx),
      }),
    };
  }
}

/** The parts of a request that an edit needs. */
interface EditRequest {
  actor: Actor & Principal;
  params: { doc_id: string };
  call: Pick<RequestInfo, 'ifMatch'>;
}

/** An edit in its transaction. `document` is the state before the edit. */
interface EditContext {
  document: DocumentRow;
  tx: Transaction;
  at: Date;
}

type UpdateBody = BodyOf<typeof updateNode>;

/** Creates the reply with a node, its descendants and the new ETag of the document. */
function nodeReply(node: NodeRow, descendants: readonly NodeRow[] = []) {
  return async (document: DocumentRow) =>
    reply(json(await renderNode(node, descendants)), { etag: toEtag(document) });
}

/** Creates the reply without a body, with the new ETag of the document. */
function emptyReply(document: DocumentRow): Reply<undefined> {
  return reply(undefined, { etag: toEtag(document) });
}

function unknownNodesProblem(indexes: readonly number[]): Problem {
  const message = 'This node is not in the document';
  const errors = indexes.map((index) => ({ path: `body/nodes/${index}/node_id`, message }));
  return UnknownNodes(undefined, { extra: { errors } });
}
