/** Replaces what differs between two runs of the same story: ids, tokens, and the names of organization and members. */
import { createHash } from 'node:crypto';
import { unpack } from '#libs/opc';
import type { TestResponse } from '#libs/testing';

/** Fields of documents, nodes and share tokens that were added after the responses were recorded. */
const addedFields = new Set([
  ...['lineage_id', 'content_hash', 'change_summary', 'minor_change'],
  ...['approver_ids', 'approval', 'review'],
  ...['expires_at', 'allowed_origins', 'has_password'],
]);

/** Replaces the arbitrary values of a text. */
export type Normalize = (text: string) => string;

/** Creates a function that replaces `values`, ids and tokens by their numbers, in the order in which it meets them. */
export function createNormalizer(values: readonly string[]): Normalize {
  const known = new Map<string, string>();
  const toName = (kind: string) => (value: string) => {
    const name = known.get(value) ?? `<${kind} ${known.size}>`;
    known.set(value, name);
    return name;
  };
  return (text) => {
    let normalized = text;
    for (const [at, value] of values.entries()) normalized = normalized.replaceAll(value, `<value ${at}>`);
    return normalized
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, toName('id'))
      .replaceAll(/(?<=\/embed\/[^/"]+\/|"token":")[\w-]{43}\b/g, toName('token'))
      .replaceAll(/whsec_[\w+/=]+/g, '<secret>')
      .replaceAll(/(?<=")[\w+/-]{22,27}(?=")/g, toName('hash'));
  };
}

/** Returns the body as it is recorded: text, or of a Word file the hash of each part. */
export async function toRecordedBody(
  { headers, bytes }: TestResponse,
  normalize: Normalize,
): Promise<unknown> {
  const type = headers.get('content-type') ?? '';
  if (!type.includes('wordprocessingml')) return normalize(Buffer.from(bytes).toString());
  const parts = await unpack(bytes);
  return Object.fromEntries(
    [...parts].map(([name, part]) => [
      name,
      createHash('sha256')
        .update(normalize(Buffer.from(part).toString('latin1')))
        .digest('hex'),
    ]),
  );
}

/** Removes the added fields from a JSON text, at any depth. The order of the other fields stays. */
export function withoutAddedFields(body: unknown): unknown {
  if (typeof body !== 'string' || !/^[[{]/.test(body)) return body;
  return JSON.stringify(JSON.parse(body, (field, value) => (addedFields.has(field) ? undefined : value)));
}
