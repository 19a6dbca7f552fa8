/** Defines the request and response shapes of documents and nodes. */
import { z } from 'zod';
import { id, order as position, requiredText, text, timestamp } from '#libs/contract';
import { findFaults } from '#libs/rich-text';

export const documentStatus = z.enum(['draft', 'published', 'archived']);
export type DocumentStatus = z.infer<typeof documentStatus>;

export const nodeType = z.enum(['section', 'step', 'sub_step']);
export type NodeType = z.infer<typeof nodeType>;

export const title = requiredText(300, 'A title is required');
export const versionLabel = text(64).meta({ description: 'Free-form label, e.g. "2.1"' });
export const department = text(200).meta({ description: 'Free-form label of a department or team' });
export const order = position;

const typeName = { type: 'string', minLength: 1 };
const attributes = { type: 'object' };

/** What `findFaults` checks, as JSON Schema, except size and depth. */
const richTextSchema = {
  properties: {
    type: typeName,
    text: { type: 'string' },
    content: { type: 'array', items: { $ref: '#/$defs/RichText' } },
    marks: {
      type: 'array',
      items: {
        type: 'object',
        properties: { type: typeName, attrs: attributes },
        required: ['type'],
        additionalProperties: false,
      },
    },
    attrs: attributes,
  },
  required: ['type'],
  additionalProperties: false,
};

/** Rich text as ProseMirror JSON. At most 512 KiB and 32 levels deep. Parsed to its JSON text, which is stored. */
export const content = z
  .record(z.string(), z.unknown())
  .transform((value, context) => {
    for (const fault of findFaults(value)) {
      context.addIssue({
        code: 'custom',
        message: fault.message,
        path: fault.path === '' ? [] : fault.path.split('/'),
      });
    }
    return JSON.stringify(value);
  })
  .meta({
    id: 'RichText',
    description: 'Rich text as ProseMirror/Tiptap JSON: `{"type": "doc", "content": […]}`',
    ...richTextSchema,
  });

export const docParams = z.object({ doc_id: id });
export const nodeParams = z.object({ doc_id: id, node_id: id });

/** The largest request body that contains a whole tree, bytes. */
export const wholeTreeBytes = 32 * 1024 * 1024;

/** The fields of a node. */
export const nodeFields = {
  id,
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

export const Node: z.ZodType<Node> = z
  .strictObject({
    ...nodeFields,
    get children() {
      return z.array(Node);
    },
  })
  .meta({ id: 'Node', description: 'A section, a step inside a section, or a sub-step inside a step.' });

const documentFields = {
  id,
  organization_id: id,
  created_by: id.meta({ description: 'The owner' }),
  editor_id: id.nullable(),
  parent_doc_id: id.nullable().meta({ description: 'On a revision, the document it revises' }),
  title: z.string(),
  version: z.string().nullable(),
  department: z.string().nullable(),
  status: documentStatus,
  published_at: timestamp.nullable(),
  archived_at: timestamp.nullable(),
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

const sortKeys = ['updated_at', 'title', 'created_at', 'published_at'] as const;

/** The sort order of a list: a key, with the prefix `-` for descending order. */
export const listSort = z.enum(sortKeys.flatMap((key) => [`-${key}` as const, key])).default('-updated_at');
export type ListSort = z.infer<typeof listSort>;

export const Document = z.strictObject({ ...documentFields, nodes: z.array(Node) }).meta({ id: 'Document' });

/** A parsed node in a request with a whole tree. `order` defaults to the node's position among its siblings. */
export interface TreeInput {
  node_type: NodeType;
  title: string;
  /** The JSON text of the rich text. */
  content?: string | null | undefined;
  order?: number | undefined;
  children?: TreeInput[] | undefined;
}

export const treeInput: z.ZodType<TreeInput> = z
  .strictObject({
    node_type: nodeType,
    title,
    content: content.nullish(),
    order: order.optional(),
    get children() {
      return z.array(treeInput).max(10_000).optional();
    },
  })
  .meta({ id: 'NodeInput', description: 'A node with its children.' });
