/** Defines the problems of public links and of acknowledgements. */
import { problem } from '#libs/contract';
import { maxReaders } from './acknowledgements/shapes.ts';

export const SharePasswordRequired = problem(
  'share_password_required',
  401,
  'This link needs a password. Send it with Basic authentication and any user name.',
);
export const DocumentNotLocked = problem(
  'document_not_locked',
  400,
  'The words of this version can change: enable `lock_published`, or set approvers. If they have changed already, publish a revision.',
);
export const AcknowledgementRequestOpen = problem(
  'acknowledgement_request_open',
  409,
  'This document has an open request. Change it, or close it first.',
);
export const AcknowledgementRequestIsClosed = problem(
  'acknowledgement_request_closed',
  400,
  'The request is closed, or this document has none.',
);
export const TooManyReaders = problem(
  'too_many_readers',
  400,
  `A request can have ${maxReaders.toLocaleString('en-US')} readers. Delete readers first.`,
);
