/** What documents says when something happened to one. */
import { z } from 'zod';
import { event, id } from '#libs/contract';
import { DocumentSummary } from './shapes.ts';

const about = {
  document: DocumentSummary,
  refired: z
    .literal(true)
    .optional()
    .meta({ description: 'Sent again by trigger-webhooks, without a change' }),
};

export const DocumentPublished = event('document.published', {
  description: 'A draft was published.',
  data: z.strictObject(about),
  subscribable: true,
});

export const DocumentRevised = event('document.revised', {
  description: 'A revision was published and took the place of the version before it.',
  data: z.strictObject(about),
  subscribable: true,
});

export const DocumentUpdated = event('document.updated', {
  description: 'The fields or the nodes of a published document changed.',
  data: z.strictObject({ document: DocumentSummary }),
  subscribable: true,
});

export const DocumentArchived = event('document.archived', {
  description: 'A published document was archived.',
  data: z.strictObject(about),
  subscribable: true,
});

export const DocumentAssigned = event('document.assigned', {
  description: 'An editor was assigned to a document.',
  data: z.strictObject({ document: DocumentSummary, editor_id: id }),
  subscribable: true,
});

/** For services only: a draft is gone for good. */
export const DocumentDeleted = event('document.deleted', {
  description: 'A draft was deleted.',
  data: z.strictObject({ document: DocumentSummary }),
});
