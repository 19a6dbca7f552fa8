/**
 * Reads the row of a document before the transaction that changes it, and the rows for concurrent requests in the same
 * command (docs/adr/0074). The transaction then writes the row only if it is unchanged, or else is retried.
 */
import { type Actor, type Store, sharedRead, type Transaction } from '#libs/store';
import { type DocumentRow, documents } from './collections.ts';

/** What an actor has in a transaction before which a document was read. */
export interface WithEarlyRow {
  /** The row of the document. Undefined if it was not found, the read failed, or the transaction is retried. */
  readonly earlyRow?: DocumentRow | undefined;
}

/** Identifies a document of an organization. */
type DocumentKey = Pick<DocumentRow, '_id' | 'organization_id'>;

/** Creates a function that reads a row and returns `work`, whose first run in a transaction gets this row. */
export function earlyReads(store: Pick<Store, 'collection'>) {
  const rows = store.collection(documents);
  const read = sharedRead({
    toId,
    async read(keys: readonly DocumentKey[]) {
      const found = await rows.find({ _id: { $in: keys.map(({ _id }) => _id) } }).toArray();
      // nobody gets the row of another organization, because the text of their key has their own
      return new Map(found.map((row) => [toId(row), row]));
    },
  });

  return async <A extends Actor, R>(
    key: DocumentKey,
    work: (within: A & WithEarlyRow, tx: Transaction) => Promise<R>,
  ): Promise<(within: A, tx: Transaction) => Promise<R>> => {
    // after a failure the transaction reads the row itself, with its retries and errors
    let nextRow = await read(key).catch(() => undefined);
    return (within, tx) => {
      const earlyRow = nextRow;
      // a retry must not decide with the old row again
      nextRow = undefined;
      return work({ ...within, earlyRow }, tx);
    };
  };
}

function toId({ _id, organization_id }: DocumentKey): string {
  return `${organization_id} ${_id}`;
}
