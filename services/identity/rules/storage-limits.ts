/** The limits of what an organization may store, and their values on each plan. */
import { z } from 'zod';

/** The names of the limits. The sizes end in `_bytes`, all others are numbers of rows. */
export const storageLimitNames = [
  'documents',
  'document_bytes',
  'asset_bytes',
  'template_bytes',
  'api_keys',
  'pending_invitations',
  'webhooks',
] as const;
export type StorageLimitName = (typeof storageLimitNames)[number];

const limit = z.number().int().nonnegative().nullable();

/** The limits of one organization. A missing limit, as in older rows, and null mean unlimited. */
export const storageLimits = z.partialRecord(z.enum(storageLimitNames), limit);
export type StorageLimits = z.infer<typeof storageLimits>;

/** Returns a limit; null means unlimited. */
export function getLimit(limits: StorageLimits | undefined, name: StorageLimitName): number | null {
  return limits?.[name] ?? null;
}

const mebibyte = 2 ** 20;
const gibibyte = 2 ** 30;

/** The limits of each plan, if the operator sets no others. */
export const defaultStorageLimits: Readonly<
  Record<'trial' | 'team' | 'scale', Readonly<Record<StorageLimitName, number | null>>>
> = {
  trial: {
    documents: 1_000,
    document_bytes: gibibyte,
    asset_bytes: gibibyte,
    template_bytes: 100 * mebibyte,
    api_keys: 100,
    pending_invitations: 100,
    webhooks: 0,
  },
  team: {
    documents: 20_000,
    document_bytes: 20 * gibibyte,
    asset_bytes: 20 * gibibyte,
    template_bytes: gibibyte,
    api_keys: 1_000,
    pending_invitations: 1_000,
    webhooks: 0,
  },
  scale: {
    documents: null,
    document_bytes: null,
    asset_bytes: null,
    template_bytes: null,
    api_keys: null,
    pending_invitations: null,
    webhooks: null,
  },
};

/**
 * Parses limits such as `documents=500, document_bytes=unlimited`. Returns the limits, or what is wrong with the text.
 */
export function parseStorageLimits(text: string): { limits: StorageLimits } | { fault: string } {
  const limits: StorageLimits = {};
  for (const item of text.split(',').filter((part) => part.trim() !== '')) {
    const [, name = '', value = ''] = /^\s*([a-z_]+)\s*=\s*(\d{1,15}|unlimited)\s*$/.exec(item) ?? [];
    if (value === '')
      return { fault: `"${item.trim()}" must be <limit>=<whole number> or <limit>=unlimited` };
    const known = storageLimitNames.find((one) => one === name);
    if (!known) return { fault: `"${name}" is not one of ${storageLimitNames.join(', ')}` };
    if (known in limits) return { fault: `"${name}" is named twice` };
    limits[known] = value === 'unlimited' ? null : Number(value);
  }
  return { limits };
}

/** Formats limits as `parseStorageLimits` reads them. */
export function formatStorageLimits(limits: StorageLimits): string {
  return Object.entries(limits)
    .map(([name, value]) => `${name}=${value ?? 'unlimited'}`)
    .join(', ');
}

/** What the limits count, and how an organization gets below them. */
const nouns: Readonly<Record<StorageLimitName, { noun: string; advice: string }>> = {
  documents: { noun: 'documents', advice: 'Delete drafts' },
  document_bytes: { noun: 'bytes of documents', advice: 'Delete drafts or parts of documents' },
  asset_bytes: { noun: 'bytes of pictures', advice: 'Remove pictures from documents' },
  template_bytes: { noun: 'bytes of templates', advice: 'Delete templates' },
  api_keys: { noun: 'API keys', advice: 'Revoke API keys' },
  pending_invitations: { noun: 'pending invitations', advice: 'Withdraw invitations' },
  webhooks: { noun: 'webhooks', advice: 'Delete webhooks' },
};

/** How much of a limit is used, and how much more a request needs. */
export interface StorageDemand {
  name: StorageLimitName;
  limit: number;
  used: number;
  needed: number;
}

/** Describes why a request is rejected, and what to do. */
export function describeExhaustion({ name, limit, used, needed }: StorageDemand): string {
  const { noun, advice } = nouns[name];
  const format = (value: number) => value.toLocaleString('en-US');
  const more = needed === 1 ? '' : `, and this request needs ${format(needed)} more`;
  return `Your plan allows ${format(limit)} ${noun}; ${format(used)} are used${more}. ${advice}, or ask the operator for a larger plan.`;
}
