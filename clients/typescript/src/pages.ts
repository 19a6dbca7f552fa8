/** Reads lists page by page. */
import type { Call } from './client.ts';
import type { AllCallOptions, OperationId } from './operation-types.ts';
import type { AnyInput } from './requests.ts';
import { toUnexpected } from './responses.ts';

/** Yields the pages of a list, until no page has a link to a next one. */
export async function* listPages(
  call: Call,
  id: OperationId,
  input: AnyInput = {},
  options: AllCallOptions = {},
): AsyncGenerator<unknown[], void, undefined> {
  for (let cursor = input.cursor; ; ) {
    const { data, status, headers } = await call(id, { ...input, cursor }, options);
    if (!Array.isArray(data)) throw toUnexpected({ status, headers }, JSON.stringify(data));
    yield data;
    cursor = findNextCursor(headers.get('link'));
    if (cursor === undefined) return;
  }
}

/**
 * The cursor in the `Link` header (RFC 8288) with `rel="next"`. Only the cursor is used, because the credential must
 * not be sent to another address.
 */
export function findNextCursor(header: string | null): string | undefined {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g))
    if (/;\s*rel="?next"?(\s|;|,|$)/i.test(parameters))
      return new URL(target, 'http://host').searchParams.get('cursor') ?? undefined;
  return undefined;
}
