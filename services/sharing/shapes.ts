/** The schemas of share tokens, their controls and shared documents, as clients send and receive them. */
import { z } from 'zod';
import { id, timestamp } from '#libs/contract';
import { content, nodeType } from '../documents/contract.ts';

/** Passwords are compared in the normal form NFC, so its characters are counted. */
export const sharePassword = z
  .string()
  .normalize('NFC')
  .refine((value) => !value.includes('\0'), 'Must not contain the character NUL')
  .refine((value) => [...value].length >= 8, 'Use at least 8 characters')
  .refine((value) => [...value].length <= 128, 'Use at most 128 characters')
  .meta({ minLength: 8, maxLength: 128, pattern: '^[^\\u0000]*$' });

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
    has_password: z.boolean().meta({ description: 'Whether readers need a password' }),
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

/** What a public link says about approval and review of its document. */
const EmbeddedControl = z
  .strictObject({
    content_hash: z
      .string()
      .nullable()
      .meta({ description: 'The content hash of the words; null after a change in place' }),
    approved_at: timestamp.nullable(),
    review_due_at: timestamp.nullable(),
  })
  .meta({
    id: 'EmbeddedControl',
    description: 'Approval and next review. Only if the organization has the setting `show_control`',
  });

/** A document as the public sees it, without users, organization and timestamps. */
export const EmbeddedDocument = z
  .strictObject({
    id,
    title: z.string(),
    version: z.string().nullable(),
    department: z.string().nullable(),
    status: z.literal('published'),
    control: EmbeddedControl.optional(),
    nodes: z.array(EmbeddedNode),
  })
  .meta({ id: 'EmbeddedDocument' });
