/** Declares the MongoDB collections of acknowledgements: their rows and indexes. */
import { z } from 'zod';
import { id } from '#libs/contract';
import { collection, type StoredRow } from '#libs/store';
import { Acknowledgement, AcknowledgementRequest } from '../acknowledgements/shapes.ts';

/** Requests for acknowledgement. Whether one is open also depends on its document: see `isOpen`. */
export const acknowledgementRequests = collection('acknowledgement_requests', {
  row: AcknowledgementRequest.omit({ id: true, document_id: true }).extend({
    _id: id,
    organization_id: id,
    /** The family of the document: a request covers all later versions. */
    family_id: id,
    /** The family's `share_epoch` at the creation; archiving increments the family's value. */
    share_epoch: z.number(),
    created_at: z.date(),
    closed_at: z.date().nullable(),
    /** The `row_version` of the organization in which its departments had the names in `audience`. */
    departments_version: z.number().exactOptional(),
    reader_count: z.number(),
    /** The baselines for which `acknowledgement.requested`, `.completed` and `.overdue` were published. */
    requested_baseline_id: id,
    completed_baseline_id: id.exactOptional(),
    overdue_baseline_id: id.exactOptional(),
    /** When to check whether somebody is overdue. Unset after the check, and in a closed request. */
    overdue_at: z.date().exactOptional(),
  }),
  indexes: [
    // newest first: all of an organization, those of a status, or those of a document
    { on: { organization_id: 1, _id: -1 } },
    { on: { organization_id: 1, status: 1, _id: -1 } },
    { on: { organization_id: 1, family_id: 1, _id: -1 } },
    // a document never has two open requests
    {
      on: { organization_id: 1, family_id: 1 },
      options: { unique: true, partialFilterExpression: { status: 'open' } },
    },
    { on: { overdue_at: 1 }, options: { partialFilterExpression: { overdue_at: { $gt: new Date(0) } } } },
  ],
});
export type RequestRow = StoredRow<typeof acknowledgementRequests>;

/** Binds each sealed token to its reader, so that it cannot be decrypted in another row. */
export const sealedReaderToken = {
  path: 'sealed',
  context: ({ _id }: { _id: string }) => `acknowledgement_readers.token/${_id}`,
};

/** The readers of requests: people without an account, each with a personal link. */
export const acknowledgementReaders = collection('acknowledgement_readers', {
  row: z.object({
    _id: id,
    organization_id: id,
    request_id: id,
    /** The family of the document of the request. */
    family_id: id,
    external_id: z.string(),
    name: z.string(),
    /** SHA-256 of the token, base64url. */
    hash: z.string(),
    /** The encrypted token, because the personal link is shown again. */
    sealed: z.string(),
    added_at: z.date(),
    /** The last acknowledgement of the reader, from `acknowledgements`. */
    acknowledged_baseline_id: id.exactOptional(),
    acknowledged_document_id: id.exactOptional(),
    acknowledged_at: z.date().exactOptional(),
  }),
  indexes: [
    { on: { request_id: 1, external_id: 1 }, options: { unique: true } },
    { on: { hash: 1 }, options: { unique: true } },
    // lists, also of a status, from index keys
    { on: { request_id: 1, _id: 1, acknowledged_baseline_id: 1, added_at: 1 } },
    // counts
    { on: { request_id: 1, acknowledged_baseline_id: 1, added_at: 1 } },
  ],
  sealed: [sealedReaderToken],
});
export type ReaderRow = StoredRow<typeof acknowledgementReaders>;

/** The acknowledgements. MongoDB lets the service only find and insert them. */
export const acknowledgements = collection('acknowledgements', {
  row: Acknowledgement.omit({ id: true }).extend({
    _id: id,
    organization_id: id,
    /** The baseline of the version when it was acknowledged. */
    baseline_id: id,
    created_at: z.date(),
  }),
  indexes: [
    // a person acknowledges a version once
    { on: { request_id: 1, 'person.id': 1, document_id: 1 }, options: { unique: true } },
    // the members who acknowledged a baseline
    { on: { request_id: 1, 'person.kind': 1, baseline_id: 1, 'person.id': 1 } },
    // newest first: all of an organization, of a version, of a request, or of a person
    { on: { organization_id: 1, _id: -1 } },
    { on: { organization_id: 1, document_id: 1, _id: -1 } },
    { on: { organization_id: 1, request_id: 1, _id: -1 } },
    { on: { organization_id: 1, 'person.id': 1, _id: -1 } },
  ],
});
export type AcknowledgementRow = StoredRow<typeof acknowledgements>;

/** All collections of acknowledgements. */
export const acknowledgementCollections = [acknowledgementRequests, acknowledgementReaders, acknowledgements];
