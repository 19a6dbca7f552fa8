/** Adds warnings about rich text to the reply of a write, or rejects the write because of them. */
import { InvalidRequest, type Json, json, listErrors } from '#libs/contract';
import { type Reply, reply } from '#libs/http';
import type { ContentWarning } from './content.ts';

/** Throws `InvalidRequest` with the warnings if the request is strict and has any. */
export function rejectWarnings(
  { strict }: { strict?: boolean | undefined },
  warnings: readonly ContentWarning[],
): void {
  if (strict && warnings.length > 0) throw listErrors(InvalidRequest, warnings);
}

/** Adds the field `warnings` to a reply with a JSON object, unless there are none. */
export function addWarnings(answer: Reply<Json>, warnings: readonly ContentWarning[]): Reply<Json> {
  if (warnings.length === 0) return answer;
  const { value, etag, headers, replayKey } = answer;
  const opening = Buffer.from(value.text).subarray(0, -1);
  const field = Buffer.from(`,"warnings":${JSON.stringify(warnings)}}`);
  const options = { etag, headers, ...(replayKey && { replayKey }) };
  return reply(json(Buffer.concat([opening, field])), options);
}
