/**
 * Early reads: the row of a document is read before the transaction that changes it, together with those of concurrent
 * requests (docs/adr/0074). The change then fails if the row has changed since.
 */
import { type Actor, type Store, sharedRead, type Transaction } from '#libs/store';
import { type DocumentRow, documents } from './collections.ts';

/** An actor in a transaction whose document was read before it. */
export interface EarlyReader {
  /** The row of the document; absent if it was not found, and when the transaction is retried. */
  readonly earlyRow?: DocumentRow;
}

/** Identifies a document of an organization. */
type DocumentKey = Pick<DocumentRow, '_id' | 'organization_id'>;

/** Creates the function that reads the row of a document early, for `work`, which runs in a transaction. */
export function earlyReads(store: Pick<Store, 'collection'>) {
  const rows = store.collection(documents);
  const read = sharedRead({
    toId,
    async read(keys: readonly DocumentKey[]) {
      const found = await rows.find({ _id: { $in: keys.map(({ _id }) => _id) } }).toArray();
      // a document of another organization has another key
      return new Map(found.map((row) => [toId(row), row]));
    },
  });

  return async <A extends Actor, R>(
    key: DocumentKey,
    work: (within: A & EarlyReader, tx: Transaction) => Promise<R>,
  ): Promise<(within: A, tx: Transaction) => Promise<R>> => {
    // after a failure the transaction reads the row itself, with its retries and errors
    let row = await read(key).catch(() => undefined);
    return (within, tx) => {
      const early = row && { earlyRow: row };
      row = undefined;
      return work({ ...within, ...early }, tx);
    };
  };
}

function toId({ _id, organization_id }: DocumentKey): string {
  return `${organization_id} ${_id}`;
}
