/** Defines the operations on requests for acknowledgement, their readers, and acknowledgements. */
import { z } from 'zod';
import { InvalidRequest, id, media, NotFound, nothing, operation, page, patchBody } from '#libs/contract';
import { ContentChanged, contentHash, DocumentNotPublished } from '../../documents/contract.ts';
import { member, ownerOrAdmin, ownItemsOrAll } from '../../identity/contract.ts';
import { audienceMember, documentOwnerOrAdmin } from '../access.ts';
import {
  Acknowledgement,
  AcknowledgementRequest,
  AcknowledgementRequestDetails,
  audienceInput,
  dueDays,
  Person,
  personStatus,
  readersInput,
  statement,
} from '../acknowledgements/shapes.ts';
import {
  AcknowledgementRequestIsClosed,
  AcknowledgementRequestOpen,
  DocumentNotLocked,
  TooManyReaders,
} from '../problems.ts';

const requestParams = z.object({ request_id: id });

export const requestAcknowledgement = operation({
  id: 'requestAcknowledgement',
  method: 'post',
  path: '/acknowledgement-requests',
  summary: 'Ask people to read and acknowledge a document',
  description:
    'The request covers the published version and all later ones. After a minor change nobody needs to acknowledge again. The document must be locked: `lock_published` or `approval_required` is on, or it has approvers. Without `audience` it asks no member; readers without an account are added one by one.',
  access: documentOwnerOrAdmin,
  body: z.strictObject({
    document_id: id,
    audience: audienceInput.optional(),
    statement: statement.optional(),
    due_days: dueDays.default(14),
  }),
  status: 201,
  returns: AcknowledgementRequest,
  location: '/acknowledgement-requests/{id}',
  problems: [InvalidRequest, DocumentNotPublished, DocumentNotLocked, AcknowledgementRequestOpen],
});

export const listAcknowledgementRequests = operation({
  id: 'listAcknowledgementRequests',
  method: 'get',
  path: '/acknowledgement-requests',
  summary: 'List requests for acknowledgement, newest first',
  access: member,
  query: z.object({
    ...page,
    document_id: id.optional().meta({ description: 'Only requests about this document, in any version' }),
    status: AcknowledgementRequest.shape.status
      .optional()
      .meta({ description: 'Only requests with this status' }),
    awaiting: z
      .enum(['me'])
      .optional()
      .meta({ description: '`me`: only open requests that await your acknowledgement' }),
  }),
  status: 200,
  returns: z.array(AcknowledgementRequest),
  paged: true,
  problems: [InvalidRequest],
});

export const getAcknowledgementRequest = operation({
  id: 'getAcknowledgementRequest',
  method: 'get',
  path: '/acknowledgement-requests/{request_id}',
  summary: 'Get a request for acknowledgement, with how many people have acknowledged',
  access: member,
  params: requestParams,
  status: 200,
  returns: AcknowledgementRequestDetails,
  problems: [NotFound],
});

export const updateAcknowledgementRequest = operation({
  id: 'updateAcknowledgementRequest',
  method: 'patch',
  path: '/acknowledgement-requests/{request_id}',
  summary: 'Change whom a request asks, or until when',
  description: 'A new audience replaces the old one. Acknowledgements are kept.',
  access: ownerOrAdmin('change this request'),
  params: requestParams,
  body: patchBody({ audience: audienceInput, due_days: dueDays }),
  status: 200,
  returns: AcknowledgementRequest,
  problems: [NotFound, AcknowledgementRequestIsClosed],
});

export const closeAcknowledgementRequest = operation({
  id: 'closeAcknowledgementRequest',
  method: 'post',
  path: '/acknowledgement-requests/{request_id}/close',
  summary: 'Close a request for acknowledgement',
  description: 'Its personal links stop working with the next request. Acknowledgements are kept.',
  access: ownerOrAdmin('close this request'),
  params: requestParams,
  status: 200,
  returns: AcknowledgementRequest,
  problems: [NotFound, AcknowledgementRequestIsClosed],
});

export const addReaders = operation({
  id: 'addReaders',
  method: 'post',
  path: '/acknowledgement-requests/{request_id}/readers',
  summary: 'Ask people without an account',
  description:
    'Returns them in the same order, each with a personal link. Your system sends the links; this service sends no e-mail. A reader who is known by `external_id` is returned unchanged.',
  access: ownerOrAdmin('add readers to this request'),
  params: requestParams,
  body: z.strictObject({ readers: readersInput }),
  status: 200,
  returns: z.array(Person),
  problems: [NotFound, AcknowledgementRequestIsClosed, TooManyReaders],
});

export const deleteReader = operation({
  id: 'deleteReader',
  method: 'delete',
  path: '/acknowledgement-requests/{request_id}/readers/{person_id}',
  summary: 'Delete a reader, with the name, the external id and the personal link',
  description: 'An acknowledgement of the reader keeps the id of the person.',
  access: ownerOrAdmin('delete readers of this request'),
  params: requestParams.extend({ person_id: id }),
  status: 204,
  returns: nothing,
  problems: [NotFound],
});

export const listPeople = operation({
  id: 'listPeople',
  method: 'get',
  path: '/acknowledgement-requests/{request_id}/people',
  summary: 'List the people whom a request asks, with their status',
  description:
    'First the members, then the readers. As CSV it has all people and no pages; cells that a spreadsheet could run as a formula begin with an apostrophe.',
  access: ownerOrAdmin('see the people of this request'),
  params: requestParams,
  query: z.object({
    ...page,
    status: personStatus.optional().meta({ description: 'Only people with this status' }),
    format: z.enum(['json', 'csv']).optional().meta({ description: 'Default: `json`' }),
  }),
  status: 200,
  returns: media({
    'application/json': { description: 'One page of people', schema: z.array(Person) },
    'text/csv': { description: 'All people, with a line of headings' },
  }),
  paged: true,
  problems: [NotFound],
});

export const createAcknowledgement = operation({
  id: 'createAcknowledgement',
  method: 'post',
  path: '/acknowledgements',
  summary: 'Acknowledge a document as a member',
  description:
    'You confirm the statement of the open request about the words with this `content_hash`. A repeated acknowledgement of a version returns the first one.',
  access: audienceMember,
  body: z.strictObject({ document_id: id, content_hash: contentHash }),
  status: 201,
  existingStatus: 200,
  returns: Acknowledgement,
  problems: [InvalidRequest, ContentChanged, AcknowledgementRequestIsClosed],
});

export const listAcknowledgements = operation({
  id: 'listAcknowledgements',
  method: 'get',
  path: '/acknowledgements',
  summary: 'List acknowledgements, newest first',
  access: ownItemsOrAll,
  query: z.object({
    ...page,
    document_id: id.optional().meta({ description: 'Only acknowledgements of this version of a document' }),
    request_id: id.optional(),
  }),
  status: 200,
  returns: z.array(Acknowledgement),
  paged: true,
  problems: [InvalidRequest],
});
