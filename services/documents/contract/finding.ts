/** Operations that read: lists, counts, one document. */
import { z } from 'zod';
import { id, NotFound, operation, page } from '#libs/contract';
import { member } from '../../identity/contract.ts';
import { Document, DocumentSummary, docParams, documentStatus, listSort } from '../shapes.ts';

const filters = {
  department: z.string().max(200).optional().meta({ description: 'Exactly this label' }),
  editor_id: id.optional(),
  created_by: id.optional(),
  parent_doc_id: id.optional(),
  updated_since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Updated at this moment or later' }),
  q: z.string().trim().min(1).max(200).optional().meta({
    description: 'Words that the titles or the text of the document all contain; up to 1,000 matches',
  }),
};

const statuses = z
  .union([documentStatus.transform((one) => [one]), z.array(documentStatus).max(3)])
  .optional()
  .meta({ description: 'Repeatable; without it, drafts and published documents' });

export const listDocuments = operation({
  id: 'listDocuments',
  method: 'get',
  path: '/documents',
  summary: 'List documents, the most recently updated first',
  description: 'Archived documents are left out unless `status` asks for them.',
  access: member,
  query: z.object({ ...page, ...filters, status: statuses, sort: listSort }),
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
  description: 'The filters are those of the list without `status`. `total` includes archived documents.',
  access: member,
  query: z.object(filters),
  status: 200,
  returns: z.strictObject({
    draft: z.int(),
    published: z.int(),
    archived: z.int(),
    total: z.int(),
  }),
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
