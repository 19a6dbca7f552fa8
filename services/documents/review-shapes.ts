/** Defines the request and response shapes of the review cycle. */
import { z } from 'zod';
import { id, timestamp } from '#libs/contract';

/** The time between two reviews, in calendar months, in requests. */
export const everyMonths = z
  .int()
  .min(1)
  .max(60)
  .meta({ description: 'Calendar months between two reviews, 1 to 60' });

/** The field of a document about its review. An event from before it existed does not have it. */
export const reviewFields = {
  review: z
    .strictObject({
      reviewer_id: id.nullable().meta({ description: 'The member who confirms the document' }),
      every_months: z.int().nullable(),
      due_at: timestamp.nullable().meta({
        description:
          'Only of a published version: the later of `published_at` and `reviewed_at`, plus `every_months` calendar months in UTC',
      }),
      reviewed_at: timestamp.nullable().meta({ description: 'When this version was last confirmed' }),
    })
    .nullable()
    .default(null)
    .meta({
      id: 'Review',
      description:
        'The periodic review. Reviewer and interval belong to all versions. Null if neither is set',
    }),
};
