/** The events that sharing publishes about public links, which are internal, and about acknowledgements. */
import { z } from 'zod';
import { event, id, timestamp } from '#libs/contract';
import { DocumentSummary } from '../documents/events.ts';
import { Acknowledgement, AcknowledgementRequest } from './acknowledgements/shapes.ts';

export { isEmptyAudience } from './acknowledgements/shapes.ts';

/** A public link got its token. */
export const ShareTokenCreated = event('share_token.created', {
  description: 'A public link of a document was created, or its token was replaced.',
  data: z.strictObject({ document_id: id, replaced: z.boolean() }),
});

const controls = z.strictObject({
  expires_at: timestamp.nullable(),
  has_password: z.boolean(),
  allowed_origins: z.array(z.string()).nullable(),
});

/** The controls of a public link changed. Never holds a password. */
export const ShareTokenUpdated = event('share_token.updated', {
  description: 'The expiry, the password or the allowed origins of a public link changed.',
  data: z.strictObject({
    document_id: id,
    changed: z.array(z.enum(['expires_at', 'password', 'allowed_origins'])),
    before: controls,
    after: controls,
  }),
});

/** A public link was deleted. Archiving a document ends its link without this event. */
export const ShareTokenDeleted = event('share_token.deleted', {
  description: 'The public link of a document was deleted.',
  data: z.strictObject({ document_id: id }),
});

const requestData = z.strictObject({ request: AcknowledgementRequest, document: DocumentSummary });

export const AcknowledgementRequested = event('acknowledgement.requested', {
  description:
    'People are asked to read a document: with a new request, and with each later version that is not a minor change.',
  data: requestData,
  subscribable: true,
});

export const AcknowledgementMade = event('acknowledgement.made', {
  description: 'A person acknowledged a document. `external_id` is your key of a reader; null for members.',
  data: z.strictObject({
    acknowledgement: Acknowledgement,
    document: DocumentSummary,
    external_id: z.string().nullable(),
  }),
  subscribable: true,
});

export const AcknowledgementCompleted = event('acknowledgement.completed', {
  description:
    'The last person who was asked acknowledged a document. At most once for a version with its minor changes.',
  data: requestData,
  subscribable: true,
});

export const AcknowledgementOverdue = event('acknowledgement.overdue', {
  description:
    'The due date has passed, and not all people have acknowledged the document. At most once for a version with its minor changes.',
  data: requestData,
  subscribable: true,
});

/** Internal: webhooks cannot subscribe to it. */
export const AcknowledgementRequestUpdated = event('acknowledgement.request_updated', {
  description: 'The audience or the due days of a request for acknowledgement changed.',
  data: z.strictObject({
    request: AcknowledgementRequest,
    /** An older event does not have it. */
    before: AcknowledgementRequest.pick({ audience: true, due_days: true }).optional(),
  }),
});

/** Internal: webhooks cannot subscribe to it. */
export const AcknowledgementRequestClosed = event('acknowledgement.request_closed', {
  description: 'A request for acknowledgement was closed, or ended because its document was archived.',
  data: z.strictObject({ request: AcknowledgementRequest }),
});

/** Internal: webhooks cannot subscribe to it. */
export const AcknowledgementReaderDeleted = event('acknowledgement.reader_deleted', {
  description: 'A reader was removed from a request, with the name and the personal link.',
  data: z.strictObject({ request: AcknowledgementRequest, reader_id: id }),
});
