/** The read-only view of templates for other services. */
import { z } from 'zod';
import { id, view } from '#libs/contract';

/** The size of all templates of an organization. It has no row for an organization without templates. */
export const templateUsage = view({
  name: 'template_usage',
  collection: 'templates',
  scope: '_id',
  stages: [{ $group: { _id: '$organization_id', bytes: { $sum: '$size_bytes' } } }],
  row: z.object({
    /** The id of the organization. */
    _id: id,
    /** The size of the uploaded files. */
    bytes: z.number(),
  }),
});
