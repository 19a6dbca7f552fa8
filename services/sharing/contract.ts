/** What sharing offers: public, login-free, read-only links to published documents. */
import { z } from 'zod';
import {
  anyone,
  contract,
  Forbidden,
  id,
  media,
  NotFound,
  nothing,
  operation,
  problem,
  timestamp,
} from '#libs/contract';
import { documentNodes, documentStates } from '../documents/contract.ts';
import { DocumentArchived, DocumentDeleted } from '../documents/events.ts';
import { member, organizationProfiles, principalViews } from '../identity/contract.ts';

// ── Problems ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export const DocumentNotPublished = problem(
  'document_not_published',
  400,
  'Only a published document can be shared: publish it first.',
);

// ── Shapes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const docParams = z.object({ doc_id: id });

/** A share token with its public link. */
export const ShareToken = z
  .strictObject({
    token: z.string().meta({ description: 'Value used in the public URL; 43 characters' }),
    org_slug: z.string(),
    url: z.string().meta({ description: 'The public link: `{app_url}/embed/{org_slug}/{token}`' }),
    document_id: id.meta({ description: 'The published version that the link shows now' }),
    created_at: timestamp,
  })
  .meta({ id: 'ShareToken' });
export type ShareToken = z.infer<typeof ShareToken>;

/** A node as the public sees it. */
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
    node_type: z.enum(['section', 'step', 'sub_step']),
    title: z.string(),
    content: z.record(z.string(), z.unknown()).nullable(),
    order: z.number(),
    get children() {
      return z.array(EmbeddedNode);
    },
  })
  .meta({ id: 'EmbeddedNode' });

/** A document as the public sees it: no user, no organization, no times. */
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

// ── Operations ────────────────────────────────────────────────────────────────────────────────────────────────────────

export const createShareToken = operation({
  id: 'createShareToken',
  method: 'post',
  path: '/documents/{doc_id}/share-token',
  summary: 'Share a published document by a public link',
  description:
    'Gives the existing token if there is one; `{"replace": true}` makes a new one, and the old link stops at once.',
  access: member,
  permission: 'The owner or an admin may share.',
  params: docParams,
  body: z
    .strictObject({
      replace: z.boolean().optional().meta({ description: 'Make a new token in place of the old one' }),
    })
    .optional(),
  status: 201,
  returns: ShareToken,
  location: '/documents/{doc_id}/share-token',
  problems: [NotFound, Forbidden, DocumentNotPublished],
});

export const getShareToken = operation({
  id: 'getShareToken',
  method: 'get',
  path: '/documents/{doc_id}/share-token',
  summary: 'Get the share token of a document, or null',
  access: member,
  params: docParams,
  status: 200,
  returns: ShareToken.nullable(),
  problems: [NotFound],
});

export const deleteShareToken = operation({
  id: 'deleteShareToken',
  method: 'delete',
  path: '/documents/{doc_id}/share-token',
  summary: 'Stop sharing a document',
  description: 'The link stops with the very next request.',
  access: member,
  permission: 'The owner or an admin may stop sharing.',
  params: docParams,
  status: 204,
  returns: nothing,
  problems: [NotFound, Forbidden],
});

export const getEmbeddedDocument = operation({
  id: 'getEmbeddedDocument',
  at: 'root',
  method: 'get',
  path: '/embed/{org_slug}/{token}',
  summary: 'Read a shared document',
  description:
    'What a public link opens: JSON, or a page for those who prefer HTML. Whatever is wrong (token, slug, a document that is not published any more), the answer is the same 404. An address that asks for too many links that are not there has to wait (429).',
  access: anyone,
  // any text is taken, so that a token of a wrong form gets the same 404 with the same headers as a wrong one
  params: z.object({ org_slug: z.string(), token: z.string() }),
  query: z.object({
    format: z
      .enum(['json', 'html'])
      .optional()
      .meta({ description: 'Forces one of the two, whatever `Accept` prefers' }),
  }),
  status: 200,
  returns: media({
    'application/json': { description: 'The document', schema: EmbeddedDocument },
    'text/html': { description: 'The same document as a page for people, which needs no script' },
  }),
  etag: true,
  crossOrigin: true,
  problemPages: true,
  problems: [NotFound],
});

export const sharingContract = contract({
  name: 'sharing',
  title: 'Sharing',
  description: 'Public links to published documents.',
  operations: [createShareToken, getShareToken, deleteShareToken, getEmbeddedDocument],
  publishes: [],
  consumes: [DocumentArchived, DocumentDeleted],
  owns: ['share_tokens'],
  views: [],
  reads: [...principalViews, organizationProfiles, documentStates, documentNodes],
});
