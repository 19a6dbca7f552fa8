/** The public interface of the sharing service: read-only links to published documents, without a login. */
import { z } from 'zod';
import {
  anyone,
  contract,
  id,
  inputTime,
  media,
  NotFound,
  nothing,
  operation,
  patchBody,
  problem,
  timestamp,
} from '#libs/contract';
import { content, documentNodes, documentStates, nodeType } from '../documents/contract.ts';
import { DocumentArchived, DocumentDeleted } from '../documents/events.ts';
import {
  ApiKeyUsed,
  frameOrigins,
  member,
  organizationProfiles,
  ownerOrAdmin,
  principalViews,
} from '../identity/contract.ts';
import { shareLinks } from './views.ts';

export * from './views.ts';

// ── Problems
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export const DocumentNotPublished = problem(
  'document_not_published',
  400,
  'This document is not published. Publish it first.',
);

// ── Shapes ─────────────────────────────────────────────────────────────────────────────────────────────────
// ───────────

const docParams = z.object({ doc_id: id });

/** A share token with its public link. */
export const ShareToken = z
  .strictObject({
    token: z.string().meta({ description: 'The token in the public URL; 43 characters' }),
    org_slug: z.string(),
    url: z.string().meta({ description: 'The public link, `{app_url}/embed/{org_slug}/{token}`' }),
    document_id: id.meta({ description: 'The published version that the link currently shows' }),
    created_at: timestamp,
    expires_at: timestamp
      .nullable()
      .meta({ description: 'The link works until this time; null if it has no end' }),
    allowed_origins: z.array(z.string()).nullable().meta({
      description:
        'Origins that may show the page of this link in a frame; null if `embed_origins` of the organization decides',
    }),
  })
  .meta({ id: 'ShareToken' });
export type ShareToken = z.infer<typeof ShareToken>;

/** A node as the public sees it; `content` is rich text. */
export interface EmbeddedNode {
  id: string;
  node_type: 'section' | 'step' | 'sub_step';
  title: string;
  content: Record<string, unknown> | null;
  order: number;
  children: EmbeddedNode[];
}

export const EmbeddedNode: z.ZodType<EmbeddedNode> = z
  .strictObject({
    id,
    node_type: nodeType,
    title: z.string(),
    content: content.nullable(),
    order: z.number(),
    get children() {
      return z.array(EmbeddedNode);
    },
  })
  .meta({ id: 'EmbeddedNode' });

/** A document as the public sees it, without users, organization and timestamps. */
export const EmbeddedDocument = z
  .strictObject({
    id,
    title: z.string(),
    version: z.string().nullable(),
    department: z.string().nullable(),
    status: z.literal('published'),
    nodes: z.array(EmbeddedNode),
  })
  .meta({ id: 'EmbeddedDocument' });

// ── Operations
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

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
  problems: [NotFound, DocumentNotPublished],
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
    allowed_origins: frameOrigins.nullable().meta({
      description:
        'Origins that may show the page of this link in a frame, instead of `embed_origins` of the organization; an empty list allows none',
    }),
  }),
  status: 200,
  returns: ShareToken,
  problems: [NotFound],
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
  problems: [NotFound],
});

export const getEmbeddedDocument = operation({
  id: 'getEmbeddedDocument',
  at: 'root',
  method: 'get',
  path: '/embed/{org_slug}/{token}',
  summary: 'Read a shared document',
  description:
    'The target of a public link. Returns JSON, or an HTML page if the client prefers HTML. An unknown token, an unknown slug, an expired link and a document that is no longer published all return the same 404. An address that requests too many unknown links gets 429.',
  access: anyone,
  // accepts any text: a malformed token must get the same 404 with the same headers as an unknown token
  params: z.object({
    org_slug: z.string().meta({ description: 'Slug of the organization' }),
    token: z.string().meta({ description: 'Token of the public link' }),
  }),
  query: z.object({
    format: z
      .enum(['json', 'html'])
      .optional()
      .meta({ description: 'Response format; overrides the `Accept` header' }),
  }),
  status: 200,
  returns: media({
    'application/json': { description: 'The document as JSON', schema: EmbeddedDocument },
    'text/html': { description: 'The document as an HTML page without scripts' },
  }),
  etag: true,
  cacheControl: 'no-cache',
  crossOrigin: true,
  problemPages: true,
  problems: [NotFound],
});

export const sharingContract = contract({
  name: 'sharing',
  title: 'Sharing',
  description: 'Public links to published documents.',
  operations: [createShareToken, getShareToken, updateShareToken, deleteShareToken, getEmbeddedDocument],
  publishes: [ApiKeyUsed],
  consumes: [DocumentArchived, DocumentDeleted],
  owns: ['share_tokens'],
  views: [shareLinks],
  reads: [...principalViews, organizationProfiles, documentStates, documentNodes],
});
