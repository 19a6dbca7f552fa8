/** Defines the read operations: list documents, count them, get one. */
import { z } from 'zod';
import { id, inputTime, NotFound, operation, page, queryList, requiredText, text } from '#libs/contract';
import { member } from '../../identity/contract.ts';
import { Document, DocumentSummary, docParams, documentStatus, listSort } from '../shapes.ts';

const filters = {
  department: text(200).optional().meta({ description: 'Exact department label' }),
  editor_id: id.optional(),
  created_by: id.optional(),
  parent_doc_id: id.optional(),
  updated_since: inputTime
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Only documents updated at or after this time' }),
  review_due_before: inputTime
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Only published documents whose review is due before this time' }),
  q: requiredText(200).optional().meta({
    description:
      'Search terms. The titles and text of a document must contain all of them. Finds at most 1,000 documents.',
  }),
};

const statuses = queryList(documentStatus, documentStatus.options.length)
  .optional()
  .meta({ description: 'May be repeated. Default: drafts and published documents' });

export const listDocuments = operation({
  id: 'listDocuments',
  method: 'get',
  path: '/documents',
  summary: 'List documents, most recently updated first',
  description: 'Omits archived documents unless `status` includes `archived`.',
  access: member,
  query: z.object({
    ...page,
    ...filters,
    status: statuses,
    sort: listSort.meta({ description: 'What to sort by' }),
  }),
  status: 200,
  returns: z.array(DocumentSummary),
  paged: true,
  problems: [],
});

export const countDocuments = operation({
  id: 'countDocuments',
  method: 'get',
  path: '/documents/counts',
  summary: 'Count documents by status',
  description: 'Takes the filters of the list except `status`. `total` includes archived documents.',
  access: member,
  query: z.object(filters),
  status: 200,
  returns: z
    .strictObject({ draft: z.int(), published: z.int(), archived: z.int(), total: z.int() })
    .meta({ id: 'DocumentCounts' }),
  problems: [],
});

export const getDocument = operation({
  id: 'getDocument',
  method: 'get',
  path: '/documents/{doc_id}',
  summary: 'Get a document with its whole tree',
  access: member,
  params: docParams,
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound],
});
