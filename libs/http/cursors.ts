/** Seals the cursors of lists: a caller cannot read or forge them, and they work only for the list they came from. */
import { type AnyOperation, invalidCursor } from '#libs/contract';
import type { Keyring } from '#libs/store';
import type { Principal } from './handle.ts';
import type { ParsedRequest } from './request.ts';

/** The keys that seal cursors. All replicas of a service need the same ones. */
export type CursorKeyring = Pick<Keyring, 'seal' | 'open'>;

/** Seals and opens the cursors of one list. */
export interface CursorSealing {
  seal(cursor: string): string;
  /** Returns the query with its cursor opened. Throws `InvalidRequest` if the cursor is not of this list. */
  openCursor(query: unknown): unknown;
}

/**
 * Creates the sealing for a request. A cursor is bound to the operation, the organization of the caller, the path and
 * the filters of the query. The page size may change from page to page.
 */
export function createCursorSealing(
  keyring: CursorKeyring,
  operation: AnyOperation,
  principal: Principal | undefined,
  { params, query }: Pick<ParsedRequest, 'params' | 'query'>,
): CursorSealing {
  return {
    seal: (cursor) => keyring.seal(cursor, getContext()),
    openCursor(sent) {
      if (typeof sent !== 'object' || sent === null || !('cursor' in sent)) return sent;
      return typeof sent.cursor === 'string' ? { ...sent, cursor: open(sent.cursor) } : sent;
    },
  };

  // computed only for a cursor, because most requests have none
  function getContext(): string {
    const isFilter = (name: string) => name !== 'cursor' && name !== 'limit';
    const filters = Object.entries(query ?? {}).filter(([name]) => isFilter(name));
    const list = [...Object.entries(params ?? {}), ...filters];
    return JSON.stringify(['cursor', operation.id, principal?.organization_id ?? null, list]);
  }

  function open(cursor: string): string {
    try {
      return keyring.open(cursor, getContext());
    } catch {
      throw invalidCursor();
    }
  }
}
