/** The tree: adding nodes to a document. */
import { json, newId } from '#libs/contract';
import { answer, handle } from '#libs/http';
import { createNode, NodeHierarchy, TooManyNodes } from './contract.ts';
import { onlyEditors, openToEdits } from './editing.ts';
import { nodeText } from './presenting.ts';
import { canStandUnder, maxNodes } from './rules/hierarchy.ts';
import type { NodeRow } from './store/collections.ts';
import { etagOf, type Library } from './store/library.ts';
import type { Trees } from './store/tree.ts';

/** The operations on single nodes. */
export function tree({ library, trees }: { library: Library; trees: Trees }) {
  return [
    handle(
      createNode,
      async ({ actor, params, body, call }) => {
        let node: NodeRow | undefined;
        const conditions = { refuses: onlyEditors(actor), ifMatch: call.ifMatch };
        const document = await library.change(actor, params.doc_id, conditions, async (current, tx, at) => {
          await openToEdits(current, () => library.locksPublished(actor, tx));
          if (current.node_count >= maxNodes) throw TooManyNodes();
          const parent = body.parent_id ? await trees.one(current, body.parent_id, tx) : undefined;
          const misplaced = body.parent_id && !parent;
          if (misplaced || !canStandUnder(body.node_type, parent?.node_type ?? null)) throw NodeHierarchy();
          const { node_type, title, order } = body;
          node = {
            _id: newId(),
            organization_id: current.organization_id,
            document_id: current._id,
            parent_id: parent?._id ?? null,
            node_type,
            title,
            content: null,
            order,
            created_by: actor.user_id,
            created_at: at,
            updated_at: at,
          };
          await trees.add([node], tx);
          return { node_count: current.node_count + 1 };
        });
        if (!node) throw new Error('A node was added and is not there');
        return answer(json(nodeText(node)), { etag: etagOf(document) });
      },
      { mayHave: ({ actor, params }) => library.check(actor, params.doc_id, onlyEditors(actor)) },
    ),
  ];
}
