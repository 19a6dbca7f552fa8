/** The schemas of requests for acknowledgement, the people whom they ask, and acknowledgements. */
import { z } from 'zod';
import { id, requiredText, timestamp } from '#libs/contract';
import { contentHash } from '../../documents/events.ts';

/** The most readers that a request can have. */
export const maxReaders = 50_000;

/** The most readers that one call adds. */
export const maxAddedReaders = 1_000;

const departmentName = requiredText(200);

/** Whom a request asks among the members, in requests. */
export const audienceInput = z
  .strictObject({
    everyone: z.boolean().optional().meta({ description: 'All members of the organization' }),
    departments: z
      .array(departmentName)
      .max(200)
      .optional()
      .meta({ description: 'The members of these departments' }),
    member_ids: z.array(id).max(1_000).optional().meta({ description: 'These members' }),
  })
  .meta({
    description:
      'Whom the request asks among the members. It is evaluated on each read, so it follows members who join, move to another department or leave',
  });
export type AudienceInput = z.infer<typeof audienceInput>;

export const statement = requiredText(500).meta({
  description:
    'What a person confirms. Default: “I have read and understood this document.” in the language of the document',
});

export const dueDays = z.number().int().min(1).max(365).meta({
  description: 'Days until a person is overdue',
});

export const Audience = z
  .strictObject({
    everyone: z.boolean(),
    departments: z.array(z.string()),
    member_ids: z.array(id),
  })
  .meta({ id: 'Audience', description: 'The members whom a request asks.' });
export type Audience = z.infer<typeof Audience>;

/** Whether a request can ask no member at all. */
export function isEmptyAudience({
  everyone,
  departments,
  member_ids,
}: {
  everyone: boolean;
  departments: readonly string[];
  member_ids: readonly string[];
}): boolean {
  return !everyone && departments.length === 0 && member_ids.length === 0;
}

export const AcknowledgementRequest = z
  .strictObject({
    id,
    document_id: id.meta({
      description: 'The published version; after the document was archived, the one that was published last',
    }),
    audience: Audience,
    statement: z.string(),
    due_days: z.number().int(),
    status: z.enum(['open', 'closed']).meta({
      id: 'AcknowledgementRequestStatus',
      description: 'A request ends when it is closed or when its document is archived',
    }),
    created_by: id,
    created_at: timestamp,
    closed_at: timestamp.nullable(),
  })
  .meta({
    id: 'AcknowledgementRequest',
    description: 'A request to read a document and its later versions, and to acknowledge it.',
  });
export type AcknowledgementRequest = z.infer<typeof AcknowledgementRequest>;

const count = z.number().int();

/** A request with how many people have which status. */
export const AcknowledgementRequestDetails = AcknowledgementRequest.extend({
  totals: z
    .strictObject({ people: count, acknowledged: count, pending: count, overdue: count })
    .meta({ id: 'AcknowledgementTotals', description: 'How many people have which status.' }),
}).meta({ id: 'AcknowledgementRequestDetails' });
export type AcknowledgementRequestDetails = z.infer<typeof AcknowledgementRequestDetails>;

export const personStatus = z.enum(['pending', 'overdue', 'acknowledged']).meta({
  id: 'AcknowledgementStatus',
  description:
    'Whether a person has acknowledged the published version, or one that differs only by minor changes',
});
export type PersonStatus = z.infer<typeof personStatus>;

export const personKind = z.enum(['member', 'reader']);

/** A reader without an account, in requests. */
export const readerInput = z.strictObject({
  external_id: requiredText(200).meta({ description: 'Your own key of the person; unique in the request' }),
  name: requiredText(200),
});
export type ReaderInput = z.infer<typeof readerInput>;

/** The readers to add. */
export const readersInput = z
  .array(readerInput)
  .min(1)
  .max(maxAddedReaders)
  .superRefine((readers, context) => {
    const known = new Set<string>();
    for (const [at, { external_id }] of readers.entries()) {
      if (known.has(external_id)) {
        const message = 'Name each `external_id` once';
        context.addIssue({ code: 'custom', path: [at, 'external_id'], message });
      }
      known.add(external_id);
    }
  });

export const Person = z
  .strictObject({
    id: id.meta({ description: 'The user id of a member, or the id of a reader' }),
    kind: personKind,
    external_id: z.string().nullable().meta({ description: 'Null for members' }),
    name: z.string(),
    url: z.string().nullable().meta({
      description: 'The personal link of a reader, `{app_url}/read/{token}`; null for members',
    }),
    status: personStatus,
    due_at: timestamp,
    acknowledged_at: timestamp.nullable().meta({ description: 'Null unless the status is `acknowledged`' }),
    document_id: id.nullable().meta({
      description: 'The version that the person acknowledged; null unless the status is `acknowledged`',
    }),
  })
  .meta({ id: 'Person', description: 'A member or a reader whom a request asks.' });
export type Person = z.infer<typeof Person>;

export const Acknowledgement = z
  .strictObject({
    id,
    request_id: id,
    document_id: id.meta({ description: 'The version that was acknowledged' }),
    content_hash: contentHash,
    statement: z.string(),
    person: z
      .strictObject({ id, kind: personKind })
      .meta({ id: 'AcknowledgementPerson', description: 'Who acknowledged.' }),
    created_at: timestamp,
  })
  .meta({
    id: 'Acknowledgement',
    description: 'The record that a person has read a version. It never changes and holds no name.',
  });
export type Acknowledgement = z.infer<typeof Acknowledgement>;

/** What the JSON of a personal link adds to that of the document. */
export const ReadingState = z
  .strictObject({
    statement: z.string(),
    due_at: timestamp,
    content_hash: contentHash.nullable().meta({
      description:
        'What to post; null if this version cannot be acknowledged, because it was changed in place',
    }),
    acknowledged_at: timestamp.nullable(),
  })
  .meta({ id: 'ReadingState', description: 'What a reader is asked, and when the reader acknowledged.' });
export type ReadingState = z.infer<typeof ReadingState>;
