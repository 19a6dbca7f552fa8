/** Defines the comparison of two versions of a document. */
import { z } from 'zod';
import { id, NotFound, operation } from '#libs/contract';
import { member } from '../../identity/contract.ts';
import { DiffTooLarge, VersionsUnrelated } from '../problems.ts';
import { DocumentSummary, docParams, nodeType } from '../shapes.ts';

const versionFields = ['title', 'version', 'department'] as const;

const FieldChange = z
  .strictObject({
    field: z.enum(versionFields),
    from: z.string().nullable(),
    to: z.string().nullable(),
  })
  .meta({ id: 'FieldChange' });

const DiffPlace = z
  .strictObject({
    id: id,
    number: z.string().meta({ description: 'The number on the public page, e.g. "2.1"' }),
    title: z.string(),
  })
  .meta({ id: 'DiffPlace', description: 'A node in one of the versions' });

const TextEdit = z
  .strictObject({ op: z.enum(['equal', 'insert', 'delete']), text: z.string() })
  .meta({ id: 'TextEdit' });
export type TextEdit = z.infer<typeof TextEdit>;

const DiffNode = z
  .strictObject({
    change: z.enum(['added', 'removed', 'changed', 'unchanged']).meta({
      description: 'How title and rich text changed. A node that has only moved is `unchanged`',
    }),
    moved: z.boolean().meta({ description: 'Whether the parent or the order among the siblings changed' }),
    lineage_id: id.meta({ description: 'That of the node in `to`; of a removed node, that in `from`' }),
    node_type: nodeType,
    from: DiffPlace.nullable().meta({ description: 'Null for an added node' }),
    to: DiffPlace.nullable().meta({ description: 'Null for a removed node' }),
    text: z.array(TextEdit).meta({
      description: 'How the plain text changed, word by word. Empty if the plain text is the same',
    }),
    format_changed: z.boolean().meta({
      description: 'Whether the plain text is the same, but marks, structure or pictures differ',
    }),
  })
  .meta({ id: 'DiffNode', description: 'A node that differs between two versions.' });
export type DiffNode = z.infer<typeof DiffNode>;

export const Diff = z
  .strictObject({
    from: DocumentSummary.nullable().meta({
      description: 'The version that is compared with; null if there is none, and then every node is added',
    }),
    to: DocumentSummary,
    same: z.boolean().meta({ description: 'Whether both versions have the same words and format' }),
    fields: z.array(FieldChange),
    counts: z
      .strictObject({
        added: z.int(),
        removed: z.int(),
        changed: z.int(),
        moved: z.int().meta({ description: 'Includes changed nodes that have moved' }),
        unchanged: z.int().meta({ description: 'Without the nodes that have moved' }),
      })
      .meta({ id: 'DiffCounts' }),
    nodes: z.array(DiffNode).meta({
      description:
        'All nodes except those without any change, in the reading order of `to`. A removed node follows its former predecessor',
    }),
  })
  .meta({ id: 'Diff', description: 'What changed from one version of a document to another.' });
export type Diff = z.infer<typeof Diff>;

export const compareVersions = operation({
  id: 'compareVersions',
  method: 'get',
  path: '/documents/{doc_id}/diff',
  summary: 'Compare a version of a document with another one',
  description:
    'By default, a draft is compared with the published version, and any other version with the one that was published before it. Nodes of both versions belong together if they have the same `lineage_id`, or else if they have the same parent and only they have this type and title. A node with more than 500 word edits, or after 20,000 edits in all nodes, has one deletion and one insertion.',
  access: member,
  params: docParams,
  query: z.object({
    against: id.optional().meta({ description: 'The version to compare with, older or newer' }),
  }),
  status: 200,
  returns: Diff,
  etag: true,
  problems: [NotFound, VersionsUnrelated, DiffTooLarge],
});
