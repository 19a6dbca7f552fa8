/** The tree: adding, changing, moving, deleting and ordering nodes, and replacing all of them at once. */
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
import { bytesOf, canStandUnder } from './rules/hierarchy.ts';
import type { Requester } from './rules/permission.ts';
import type { NodeType } from './shapes.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import type { Decided, DocumentRepository } from './store/document-repository.ts';
import { etagOf } from './store/preconditions.ts';
import type { NodeChange, Trees } from './store/tree.ts';
import { flattenTree, withinLimits } from './tree-input.ts';
import { nodeBytes } from './tree-json.ts';

/** The operations on nodes. */
export function tree({
  library,
  trees,
  show,
}: {
  library: DocumentRepository;
  trees: Trees;
  show: DocumentReply;
}) {
  const authorizeReplay = ({ actor, params }: EditAsked) =>
    library.check(actor, params.doc_id, requireEditor(actor));

  return [
    handle(
      createNode,
      async (asked) => {
        const { node_type, title, order, parent_id = null } = asked.body;
        return edit(asked, async ({ document, tx, at }) => {
          const size = withinLimits({ ...document, node_count: document.node_count + 1 });
          const node: NodeRow = {
            _id: newId(),
            organization_id: document.organization_id,
            document_id: document._id,
            parent_id: await placeOf(node_type, parent_id, document, tx),
            node_type,
            title,
            content: null,
            order,
            created_by: asked.actor.user_id,
            created_at: at,
            updated_at: at,
          };
          await trees.add([node], tx);
          return { change: size, reply: nodeReply(node) };
        });
      },
      { authorizeReplay },
    ),

    handle(updateNode, async (asked) =>
      editNode(asked, async ({ document, node, tx, at }) => {
        const change = await changeOf(node, asked.body, document, tx);
        const content_bytes =
          'content' in change
            ? document.content_bytes - bytesOf(node.content) + bytesOf(change.content ?? null)
            : document.content_bytes;
        const size = withinLimits({ ...document, content_bytes });
        const changed = await trees.change(node, change, at, tx);
        return { change: size, reply: nodeReply(changed, await trees.below(document, changed, tx)) };
      }),
    ),

    handle(deleteNode, async (asked) =>
      editNode(asked, async ({ document, node, tx }) => {
        const gone = await trees.remove(document, node, tx);
        const node_count = document.node_count - gone.node_count;
        const content_bytes = document.content_bytes - gone.content_bytes;
        return { change: { node_count, content_bytes }, reply: done };
      }),
    ),

    handle(
      reorderNodes,
      async (asked) => {
        const { nodes } = asked.body;
        return edit(asked, async ({ document, tx, at }) => {
          const ids = nodes.map(({ node_id }) => node_id);
          const orders = await trees.orders(document, ids, tx);
          const unknown = ids.flatMap((id, index) => (orders.has(id) ? [] : [index]));
          if (unknown.length > 0) throw unknownNodes(unknown);
          const moved = nodes.filter(({ node_id, order }) => orders.get(node_id) !== order);
          await trees.reorder(moved, at, tx);
          return { change: {}, reply: done };
        });
      },
      { authorizeReplay },
    ),

    handle(replaceTree, async (asked) =>
      edit(asked, async ({ document, tx, at }) => {
        const { nodes, ...size } = flattenTree(document, asked.body.nodes, asked.actor.user_id, at);
        await trees.clear(document, tx);
        await trees.add(nodes, tx);
        return { change: size, reply: (document: DocumentRow) => show.made(document, nodes) };
      }),
    ),
  ];

  /** Changes the tree of a document that the actor may edit and that is open to edits; gives the reply of `decide`. */
  function edit<R>(
    { actor, params, call }: EditAsked,
    decide: (edit: Edit) => Promise<Decided<R>>,
    finds?: (document: DocumentRow, tx: Transaction) => Promise<void>,
  ): Promise<R> {
    const conditions = { authorize: requireEditor(actor), ifMatch: call.ifMatch, ...(finds && { finds }) };
    return library.change(actor, params.doc_id, conditions, async (document, tx, at) => {
      await assertEditable(document, () => library.locksPublished(actor, tx));
      return decide({ document, tx, at });
    });
  }

  /** The same for one node of the document, which must be there before anything else is looked at. */
  function editNode<R>(
    asked: EditAsked & { params: { node_id: string } },
    decide: (edit: Edit & { node: NodeRow }) => Promise<Decided<R>>,
  ): Promise<R> {
    let node!: NodeRow;
    const finds = async (document: DocumentRow, tx: Transaction) => {
      const found = await trees.one(document, asked.params.node_id, tx);
      if (!found) throw NotFound();
      node = found;
    };
    return edit(asked, (one) => decide({ ...one, node }), finds);
  }

  /** The parent, if a node of this type may stand there; `NodeHierarchy`. */
  async function placeOf(
    type: NodeType,
    parentId: string | null,
    document: DocumentRow,
    tx: Transaction,
  ): Promise<string | null> {
    const parent = parentId === null ? undefined : await trees.one(document, parentId, tx);
    const isLost = parentId !== null && !parent;
    if (isLost || !canStandUnder(type, parent?.node_type ?? null)) throw NodeHierarchy();
    return parentId;
  }

  /** What a body changes of a node. */
  async function changeOf(
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
        parent_id: await placeOf(node.node_type, parent_id, document, tx),
      }),
    };
  }
}

/** Who wants to edit which document, and what they know of it. */
interface EditAsked {
  actor: Actor & Requester;
  params: { doc_id: string };
  call: Pick<RequestInfo, 'ifMatch'>;
}

/** An edit in its transaction: the document as it was before. */
interface Edit {
  document: DocumentRow;
  tx: Transaction;
  at: Date;
}

type UpdateBody = BodyOf<typeof updateNode>;

/** The reply with a node and what lies below it, and the document's new ETag. */
function nodeReply(node: NodeRow, below: readonly NodeRow[] = []) {
  return async (document: DocumentRow) =>
    reply(json(await nodeBytes(node, below)), { etag: etagOf(document) });
}

/** The answer without a body: the document's new ETag. */
function done(document: DocumentRow): Reply<undefined> {
  return reply(undefined, { etag: etagOf(document) });
}

function unknownNodes(indexes: readonly number[]): Problem {
  const message = 'This node is not in the document';
  const errors = indexes.map((index) => ({ path: `body/nodes/${index}/node_id`, message }));
  return UnknownNodes(undefined, { extra: { errors } });
}
