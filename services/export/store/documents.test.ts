/** Reading nodes while others write. */
import { expect, test } from '@jest/globals';
import { newId, type View } from '#libs/contract';
import type { Store } from '#libs/store';
import { documentNodes } from '../../documents/contract.ts';
import { nodeStore } from './documents.ts';

const moment = { id: newId(), organizationId: newId(), rowVersion: 1 };

/** The views over one document in memory; `whileReading` runs once its nodes were read. */
function stage(whileReading: (document: { row_version: number }) => void) {
  const document = { row_version: 1 };
  const read = (view: View) => {
    const finder = {
      one: async () => ({ ...document }),
      async bytes() {
        if (view !== documentNodes) throw new Error('Only nodes are read so');
        const found = Buffer.from(`nodes of ${document.row_version}`);
        whileReading(document);
        return found;
      },
    };
    return { in: () => finder, unscoped: () => finder };
  };
  // the rows have what the reader needs of the real ones
  return nodeStore({ read } as unknown as Pick<Store, 'read'>);
}

test('nodes of a document that stands still are given', async () => {
  expect(String(await stage(() => {}).readAt(moment))).toBe('nodes of 1');
});

test('nodes of a document that was written while they were read are not', async () => {
  const nodes = stage((document) => {
    document.row_version += 1;
  });
  expect(await nodes.readAt(moment)).toBeUndefined();
});

test('nor are those of a document that was written before', async () => {
  expect(await stage(() => {}).readAt({ ...moment, rowVersion: 0 })).toBeUndefined();
});
