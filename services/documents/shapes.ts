/** Defines the request and response shapes of documents and nodes. */
import { z } from 'zod';
import {
  id,
  languageTag,
  order as position,
  queryFlag,
  requiredText,
  stopAfterErrors,
  text,
  timestamp,
} from '#libs/contract';
import { approvalFields, contentHash } from './approval-shapes.ts';
import { type Content, type ContentNotes, ContentWarning, content, toContentText } from './content.ts';
import { reviewFields } from './review-shapes.ts';

export const documentStatus = z
  .enum(['draft', 'published', 'archived'])
  .meta({ id: 'DocumentStatus', description: 'Where a document is in its lifecycle' });
export type DocumentStatus = z.infer<typeof documentStatus>;

export const nodeType = z
  .enum(['section', 'step', 'sub_step'])
  .meta({ id: 'NodeType', description: 'Sections contain steps, steps contain sub-steps' });
export type NodeType = z.infer<typeof nodeType>;

/** The maximum lengths of these fields, characters. */
export const maxTitleLength = 300;
export const maxVersionLength = 64;
export const maxDepartmentLength = 200;

export const title = requiredText(maxTitleLength, 'A title is required');
export const versionLabel = text(maxVersionLength).meta({ description: 'Free-form label, e.g. "2.1"' });
export const department = text(maxDepartmentLength).meta({
  description: 'Free-form label of a department or team',
});
export const language = languageTag;
export const order = position;

/** The query of operations that accept rich text. */
export const contentQuery = z.object({
  strict: queryFlag
    .optional()
    .meta({ description: 'Whether to reject rich text that has warnings, with 400 and all of them' }),
});

export const docParams = z.object({ doc_id: id });
export const nodeParams = z.object({ doc_id: id, node_id: id });

/** The largest request body that contains a whole tree, bytes. */
export const wholeTreeBytes = 32 * 1024 * 1024;

/** The id that a node shares with the same node in other versions. UUIDs are compared without case. */
const lineageId = z.uuid().toLowerCase();

/** The fields of a node. */
export const nodeFields = {
  id,
  lineage_id: id.meta({
    description: 'Shared with the same node in other versions of the document; unique within a document',
  }),
  document_id: id,
  parent_id: id.nullable(),
  node_type: nodeType,
  title: z.string(),
  content: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'Rich text; null on a new node' }),
  order,
  created_by: id,
  created_at: timestamp,
  updated_at: timestamp,
};

export interface Node {
  id: string;
  lineage_id: string;
  document_id: string;
  parent_id: string | null;
  node_type: NodeType;
  title: string;
  content: Record<string, unknown> | null;
  order: number;
  created_by: string;
  created_at: string;
  updated_at: string;
  children: Node[];
}

const shownContent = content.nullable().meta({ description: 'Null on a new node' });

export const Node: z.ZodType<Node> = z
  .strictObject({
    ...nodeFields,
    content: shownContent,
    get children() {
      return z.array(Node);
    },
  })
  .meta({ id: 'Node', description: 'A section, a step inside a section, or a sub-step inside a step.' });

export const changeSummary = text(2_000).meta({
  description: 'What changed in this version, for its readers',
});
export const minorChange = z.boolean().meta({
  description: 'Whether the change is minor, so that readers of the version before need not read it again',
});

/** The fields about a version's content. An event from before they existed does not have them. */
const versionFields = {
  content_hash: contentHash.nullable().default(null).meta({
    description:
      'The SHA-256 of title, version, department and tree as canonical JSON (RFC 8785). Null in a draft that is not in approval, and after a published version was changed in place',
  }),
  change_summary: changeSummary.nullable().default(null),
  minor_change: minorChange.default(false),
};

const documentFields = {
  id,
  organization_id: id,
  created_by: id.meta({ description: 'The owner' }),
  editor_id: id.nullable(),
  parent_doc_id: id.nullable().meta({ description: 'On a revision, the document it revises' }),
  title: z.string(),
  version: z.string().nullable(),
  department: z.string().nullable(),
  language: z
    .string()
    .nullable()
    .meta({ description: 'Language tag (BCP 47); null means the `language` of the organization’s settings' }),
  status: documentStatus,
  published_at: timestamp.nullable(),
  archived_at: timestamp.nullable(),
  ...versionFields,
  ...approvalFields,
  ...reviewFields,
  created_at: timestamp,
  updated_at: timestamp,
};

/** A document without its nodes, as in lists and events. */
export const DocumentSummary = z.strictObject(documentFields).meta({ id: 'DocumentSummary' });
export type DocumentSummary = z.infer<typeof DocumentSummary>;

/** A version in the history of a document: without `status` and `nodes`. */
export const HistoryRecord = DocumentSummary.omit({ status: true }).meta({ id: 'HistoryRecord' });
export type HistoryRecord = z.infer<typeof HistoryRecord>;

/** The response of `archiveDocument`: without `status`, `editor_id`, `parent_doc_id` and `nodes`. */
export const ArchiveRecord = DocumentSummary.omit({
  status: true,
  editor_id: true,
  parent_doc_id: true,
}).meta({
  id: 'ArchiveRecord',
});
export type ArchiveRecord = z.infer<typeof ArchiveRecord>;

const sortKeys = ['updated_at', 'title', 'created_at', 'published_at', 'review_due_at'] as const;

/** The sort order of a list: a key, with the prefix `-` for descending order. */
export const listSort = z
  .enum(sortKeys.flatMap((key) => [`-${key}` as const, key]))
  .meta({ id: 'DocumentSort', description: 'A field to sort by; `-` before it means descending' })
  .default('-updated_at');
export type ListSort = z.infer<typeof listSort>;

export const Document = z.strictObject({ ...documentFields, nodes: z.array(Node) }).meta({ id: 'Document' });

/** The warnings in the response to a request with rich text; absent if there are none. */
const warnings = z.array(ContentWarning).max(100).optional().meta({
  description: 'The first 100 warnings about the rich text of the request; absent if there are none',
});

export const WrittenDocument = z
  .strictObject({ ...documentFields, nodes: z.array(Node), warnings })
  .meta({ id: 'WrittenDocument', description: 'A document, and warnings about its new rich text.' });

export const WrittenNode = z
  .strictObject({ ...nodeFields, content: shownContent, children: z.array(Node), warnings })
  .meta({ id: 'WrittenNode', description: 'A node, and warnings about its new rich text.' });

/** A node in a request with a whole tree. `order` defaults to the node's position among its siblings. */
interface NodeInput<Text> {
  lineage_id?: string | undefined;
  node_type: NodeType;
  title: string;
  content?: Text | null | undefined;
  order?: number | undefined;
  children?: NodeInput<Text>[] | undefined;
}

/** A parsed node with the JSON text of its rich text. */
export type TreeInput = NodeInput<string>;

/** A node in a request, with its children. */
export const nodeInput: z.ZodType<NodeInput<Content>> = stopAfterErrors(
  z
    .strictObject({
      lineage_id: lineageId.optional().meta({
        description:
          'Any UUID, such as the `lineage_id` of a node of another version, or a stable id of your own system. Default: the id of the new node',
      }),
      node_type: nodeType,
      title,
      content: content.nullish(),
      order: order.optional(),
      get children() {
        return z.array(nodeInput).max(10_000).optional();
      },
    })
    .meta({ id: 'NodeInput', description: 'A node with its children.' }),
);

/** A tree in a request. */
export const treeInput = z
  .array(nodeInput)
  .max(10_000)
  .superRefine((nodes, context) => {
    for (const path of findRepeatedLineage(nodes))
      context.addIssue({ code: 'custom', message: 'This lineage_id appears twice', path });
  });

/** Finds the paths of lineage ids that another node of the tree has before. */
function* findRepeatedLineage(
  nodes: readonly NodeInput<unknown>[],
  path: readonly (string | number)[] = [],
  seen = new Set<string>(),
): Generator<(string | number)[]> {
  for (const [index, { lineage_id, children = [] }] of nodes.entries()) {
    if (lineage_id !== undefined && seen.has(lineage_id)) yield [...path, index, 'lineage_id'];
    if (lineage_id !== undefined) seen.add(lineage_id);
    yield* findRepeatedLineage(children, [...path, index, 'children'], seen);
  }
}

/** Converts the rich text of a tree in the field `nodes` of a body. Adds its warnings and assets to `notes`. */
export function toTreeInput(
  nodes: z.infer<typeof treeInput>,
  notes: ContentNotes,
  path = 'body/nodes',
): TreeInput[] {
  return nodes.map(({ content, children, ...fields }, index) => ({
    ...fields,
    content: content ? toContentText(content, `${path}/${index}/content`, notes) : null,
    children: children && toTreeInput(children, notes, `${path}/${index}/children`),
  }));
}
