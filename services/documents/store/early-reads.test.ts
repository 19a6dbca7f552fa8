/** Tests which run of a transaction gets the early row, over a collection in memory. */
import { expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store, Transaction } from '#libs/store';
import { documentRow } from '../testing/rows.ts';
import type { DocumentRow } from './collections.ts';
import { earlyReads } from './early-reads.ts';

/** Reads early from these rows, or fails without any. Runs the work twice and returns the row that each run got. */
async function runTwice(key: Pick<DocumentRow, '_id' | 'organization_id'>, rows?: DocumentRow[]) {
  const find = () => ({ toArray: async () => rows ?? Promise.reject(new Error('no primary')) });
  // the fakes implement only what is used
  const store = { collection: () => ({ find }) } as unknown as Pick<Store, 'collection'>;
  const tx = {} as Transaction;
  const work = await earlyReads(store)(key, async ({ earlyRow }) => earlyRow);
  const actor = { organization_id: key.organization_id, user_id: newId() };
  return [await work(actor, tx), await work(actor, tx)];
}

test('the first run gets the row, and a retry reads it itself', async () => {
  const row = documentRow();
  expect(await runTwice(row, [row])).toEqual([row, undefined]);
});

test('no run gets the document of another organization', async () => {
  const row = documentRow();
  expect(await runTwice({ ...row, organization_id: newId() }, [row])).toEqual([undefined, undefined]);
});

test('after a failed read, the transaction reads the row itself', async () => {
  expect(await runTwice(documentRow())).toEqual([undefined, undefined]);
});
