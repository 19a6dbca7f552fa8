/** Writing: making documents and changing their fields. */
import { type BodyOf, newId } from '#libs/contract';
import { handle } from '#libs/http';
import {
  ContentTooLarge,
  createDocument,
  NodeHierarchy,
  TooManyNodes,
  updateDocument,
  VersionUnchanged,
} from './contract.ts';
import { onlyEditors, openToEdits } from './editing.ts';
import { maxContentBytes, maxNodes, type Placed, placed } from './rules/hierarchy.ts';
import { repeatsVersion, versionToDifferFrom } from './rules/version.ts';
import type { Show } from './showing.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import type { Change, Library } from './store/library.ts';

/** The operations that make and change documents. */
export function writing({ library, show, now }: { library: Library; show: Show; now: () => Date }) {
  return [
    handle(
      createDocument,
      async ({ actor, body }) => {
        const { nodes: tree, misplaced } = placed(body.nodes ?? []);
        if (misplaced.length > 0)
          throw NodeHierarchy(undefined, {
            extra: { errors: misplaced.map((path) => ({ path, message: NodeHierarchy.title })) },
          });
        if (tree.length > maxNodes) throw TooManyNodes();
        const at = now();
        const document = blank(actor, at, body);
        const nodes = nodesOf(document, tree, actor.user_id, at);
        document.node_count = nodes.length;
        document.content_bytes = nodes.reduce((sum, node) => sum + Buffer.byteLength(node.content ?? ''), 0);
        if (document.content_bytes > maxContentBytes) throw ContentTooLarge();
        await library.create(actor, document, nodes);
        return show.made(document, nodes);
      },
      { again: show.again },
    ),

    handle(updateDocument, async ({ actor, params, body, call }) => {
      const conditions = { refuses: onlyEditors(actor), ifMatch: call.ifMatch };
      const changed = await library.changeRow(actor, params.doc_id, conditions, async (current) => {
        await openToEdits(current, () => library.locksPublished(actor));
        const original = versionToDifferFrom(current, body);
        if (original && repeatsVersion(body.version, (await library.find(actor, original)).version))
          throw VersionUnchanged();
        return fieldsOf(body);
      });
      return show.row(actor, changed);
    }),
  ];
}

interface Fields {
  title: string;
  version?: string | null | undefined;
  department?: string | null | undefined;
}

/** The fields that are named. */
function fieldsOf({ title, version, department }: BodyOf<typeof updateDocument>): Change {
  return {
    ...(title !== undefined && { title }),
    ...(version !== undefined && { version }),
    ...(department !== undefined && { department }),
  };
}

function blank(
  actor: { organization_id: string; user_id: string },
  at: Date,
  { title, version, department }: Fields,
): DocumentRow {
  const _id = newId();
  return {
    _id,
    organization_id: actor.organization_id,
    family_id: _id,
    created_by: actor.user_id,
    editor_id: null,
    parent_doc_id: null,
    title,
    version: version ?? null,
    department: department ?? null,
    status: 'draft',
    published_at: null,
    archived_at: null,
    created_at: at,
    updated_at: at,
    row_version: 1,
    share_epoch: 0,
    node_count: 0,
    content_bytes: 0,
  };
}

function nodesOf(document: DocumentRow, tree: readonly Placed[], created_by: string, at: Date): NodeRow[] {
  const ids = tree.map(() => newId());
  return tree.map(({ input, parent, order }, index) => ({
    _id: ids[index] ?? newId(),
    organization_id: document.organization_id,
    document_id: document._id,
    parent_id: parent === null ? null : (ids[parent] ?? null),
    node_type: input.node_type,
    title: input.title,
    content: input.content ? JSON.stringify(input.content) : null,
    order,
    created_by,
    created_at: at,
    updated_at: at,
  }));
}
