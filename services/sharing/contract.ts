/** The public interface of the sharing service: links to published documents without a login, acknowledgements. */
import { z } from 'zod';
import {
  type Access,
  anyone,
  contract,
  form,
  id,
  inputTime,
  media,
  NotFound,
  nothing,
  operation,
  PreconditionFailed,
  patchBody,
} from '#libs/contract';
import {
  assetBytes,
  assetDetails,
  assetId,
  DocumentNotPublished,
  documentNodes,
  documentStates,
  documentSummaries,
  pictureMedia,
  publishedDocuments,
} from '../documents/contract.ts';
import { DocumentArchived, DocumentDeleted, DocumentRevised } from '../documents/events.ts';
import {
  ApiKeyUsed,
  DepartmentRenamed,
  departmentNames,
  frameOrigins,
  member,
  memberProfiles,
  organizationProfiles,
  ownerOrAdmin,
  principalViews,
} from '../identity/contract.ts';
import * as acknowledgements from './contract/acknowledgements.ts';
import * as reading from './contract/reading.ts';
import {
  AcknowledgementCompleted,
  AcknowledgementMade,
  AcknowledgementOverdue,
  AcknowledgementReaderDeleted,
  AcknowledgementRequestClosed,
  AcknowledgementRequested,
  AcknowledgementRequestUpdated,
  ShareTokenCreated,
  ShareTokenDeleted,
  ShareTokenUpdated,
} from './events.ts';
import { SharePasswordRequired } from './problems.ts';
import { EmbeddedDocument, ShareToken, sharePassword } from './shapes.ts';
import { shareLinks } from './views.ts';

export { Acknowledgement, AcknowledgementRequest, Person } from './acknowledgements/shapes.ts';
export * from './contract/acknowledgements.ts';
export * from './contract/reading.ts';
export * from './events.ts';
export * from './problems.ts';
export * from './shapes.ts';
export * from './views.ts';

// ── Operations
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

const docParams = z.object({ doc_id: id });

export const createShareToken = operation({
  id: 'createShareToken',
  method: 'post',
  path: '/documents/{doc_id}/share-token',
  summary: 'Create a public link to a published document',
  description:
    'Returns the existing token if the document has one. `{"replace": true}` creates a new token; the old link stops working immediately.',
  access: ownerOrAdmin('share this document'),
  params: docParams,
  body: z
    .strictObject({
      replace: z.boolean().optional().meta({ description: 'Create a new token and invalidate the old one' }),
    })
    .optional(),
  status: 201,
  returns: ShareToken,
  location: '/documents/{doc_id}/share-token',
  problems: [NotFound, DocumentNotPublished, PreconditionFailed],
});

export const getShareToken = operation({
  id: 'getShareToken',
  method: 'get',
  path: '/documents/{doc_id}/share-token',
  summary: 'Get the share token of a document; null if it has none',
  access: member,
  params: docParams,
  status: 200,
  returns: ShareToken.nullable(),
  problems: [NotFound],
});

export const updateShareToken = operation({
  id: 'updateShareToken',
  method: 'patch',
  path: '/documents/{doc_id}/share-token',
  summary: 'Set the controls of a public link',
  description:
    'Absent fields do not change, `null` removes a control. A change applies to the next request. `{"replace": true}` keeps the controls, deleting the link removes them. An expired link still has its token: a later `expires_at` lets it work again.',
  access: ownerOrAdmin('change the public link of this document'),
  params: docParams,
  body: patchBody({
    expires_at: inputTime
      .nullable()
      .meta({ description: 'From this time on the link does not work; must be in the future' }),
    password: sharePassword
      .nullable()
      .meta({ description: 'Readers need this password from now on; 8 to 128 characters' }),
    allowed_origins: frameOrigins.nullable().meta({
      description:
        'Origins that may show the page of this link in a frame, instead of `embed_origins` of the organization; an empty list allows none',
    }),
  }),
  status: 200,
  returns: ShareToken,
  problems: [NotFound, PreconditionFailed],
});

export const deleteShareToken = operation({
  id: 'deleteShareToken',
  method: 'delete',
  path: '/documents/{doc_id}/share-token',
  summary: 'Stop sharing a document',
  description: 'The link stops working with the next request.',
  access: ownerOrAdmin('stop sharing this document'),
  params: docParams,
  status: 204,
  returns: nothing,
  problems: [NotFound, PreconditionFailed],
});

/** Anyone with the link; if the link has a password, anyone who knows it. */
const anyoneWithPassword: Access<undefined> = {
  ...anyone,
  takesPassword: true,
  description: 'Public. No credentials required, except for the password of a link that has one.',
};

// accept any text: a malformed token must get the same 404 with the same headers as an unknown token
const linkParams = z.object({
  org_slug: z.string().meta({ description: 'Slug of the organization' }),
  token: z.string().meta({ description: 'Token of the public link' }),
});
const linkQuery = z.object({
  format: z
    .enum(['json', 'html'])
    .optional()
    .meta({ description: 'Response format; overrides the `Accept` header' }),
});

export const getEmbeddedDocument = operation({
  id: 'getEmbeddedDocument',
  at: 'root',
  method: 'get',
  path: '/embed/{org_slug}/{token}',
  summary: 'Read a shared document',
  description:
    'The target of a public link. Returns JSON, or an HTML page if the client prefers HTML. An unknown token, an unknown slug, an expired link and a document that is no longer published all return the same 404. An address that requests too many unknown links gets 429. A link with a password returns 401 until the request has it: programs send it with Basic authentication and any user name, browsers get a page with a form. After too many wrong passwords it returns 429.',
  access: anyoneWithPassword,
  params: linkParams,
  query: linkQuery,
  status: 200,
  returns: media({
    'application/json': { description: 'The document as JSON', schema: EmbeddedDocument },
    'text/html': { description: 'The document as an HTML page without scripts' },
  }),
  etag: true,
  cacheControl: 'no-cache',
  crossOrigin: true,
  problemPages: true,
  problems: [NotFound, SharePasswordRequired],
});

export const getEmbeddedAsset = operation({
  id: 'getEmbeddedAsset',
  at: 'root',
  method: 'get',
  path: '/embed/{org_slug}/{token}/assets/{asset_id}',
  summary: 'Download a picture of a shared document',
  description:
    'The address of an uploaded picture in a shared document. Works whenever the link does, with its password, and only for pictures of the version that the link shows. Everything else returns the same 404 as an unknown link.',
  access: anyoneWithPassword,
  params: linkParams.extend({ asset_id: z.string().meta(assetId.meta() ?? {}) }),
  status: 200,
  returns: pictureMedia,
  etag: true,
  cacheControl: 'no-cache',
  crossOrigin: true,
  problems: [NotFound, SharePasswordRequired],
});

export const submitSharePassword = operation({
  id: 'submitSharePassword',
  at: 'root',
  method: 'post',
  path: '/embed/{org_slug}/{token}',
  summary: 'Enter the password of a shared document in a browser',
  description:
    'The target of the form on the page that asks for the password. Sets a cookie that opens this link for 12 hours, until the password changes, and redirects to the document. Programs send the password with each `GET` instead.',
  access: anyone,
  params: linkParams,
  query: linkQuery,
  body: form(z.strictObject({ password: z.string() })),
  status: 303,
  returns: nothing,
  problemPages: true,
  problems: [NotFound, SharePasswordRequired],
});

export const sharingContract = contract({
  name: 'sharing',
  title: 'Sharing',
  description: 'Public links to published documents, and their acknowledgement by people.',
  operations: [
    createShareToken,
    getShareToken,
    updateShareToken,
    deleteShareToken,
    getEmbeddedDocument,
    getEmbeddedAsset,
    submitSharePassword,
    ...[acknowledgements, reading].flatMap((file) => Object.values(file)),
  ],
  publishes: [
    ...[AcknowledgementRequested, AcknowledgementMade, AcknowledgementCompleted, AcknowledgementOverdue],
    ...[AcknowledgementRequestUpdated, AcknowledgementRequestClosed, AcknowledgementReaderDeleted],
    ...[ShareTokenCreated, ShareTokenUpdated, ShareTokenDeleted, ApiKeyUsed],
  ],
  consumes: [DocumentArchived, DocumentDeleted, DocumentRevised, AcknowledgementMade, DepartmentRenamed],
  owns: ['share_tokens', 'acknowledgement_requests', 'acknowledgement_readers'],
  appends: ['acknowledgements'],
  views: [shareLinks],
  reads: [
    ...principalViews,
    ...[memberProfiles, departmentNames, organizationProfiles, documentStates, publishedDocuments],
    ...[documentSummaries, documentNodes, assetDetails, assetBytes],
  ],
});
