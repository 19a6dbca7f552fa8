/** Tests reads of a document while it or its organization changes. */
import { expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId, type View } from '#libs/contract';
import type { Store } from '#libs/store';
import { documentNodes } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';
import { documentStore } from './documents.ts';

const snapshot = { id: newId(), organizationId: newId(), rowVersion: 1, organizationRowVersion: 1 };

/** Creates a store with one in-memory document; `whileReading` runs after its nodes are read. */
function createStore(
  whileReading: (rows: Record<'document' | 'organization', { row_version: number }>) => void,
) {
  const [document, organization] = [{ row_version: 1 }, { row_version: 1 }];
  const read = (view: View) => {
    const finder = {
      one: async () => ({ ...(view === organizationProfiles ? organization : document) }),
      async bytes() {
        if (view !== documentNodes) throw new Error('Only nodes are read as bytes');
        const nodes = [mongoose.mongo.BSON.serialize({ title: `node of ${document.row_version}` })];
        whileReading({ document, organization });
        return nodes;
      },
    };
    return { in: () => finder, unscoped: () => finder };
  };
  // the views implement only what the store uses
  return documentStore({ read } as unknown as Pick<Store, 'read'>);
}

test('readAt returns an unchanged document with its nodes', async () => {
  const source = await createStore(() => {}).readAt(snapshot);
  expect(source?.decodeNodes()).toEqual([{ title: 'node of 1' }]);
  expect(source?.nodeBytes).toBe(mongoose.mongo.BSON.serialize({ title: 'node of 1' }).byteLength);
  expect(source).toMatchObject({ document: { row_version: 1 }, organization: { row_version: 1 } });
});

test.each(['document', 'organization'] as const)(
  'readAt returns undefined if the %s changes during the read',
  async (name) => {
    const documents = createStore((rows) => {
      rows[name].row_version += 1;
    });
    expect(await documents.readAt(snapshot)).toBeUndefined();
  },
);

test.each(['rowVersion', 'organizationRowVersion'] as const)(
  'readAt returns undefined if the %s changed before the read',
  async (version) => {
    expect(await createStore(() => {}).readAt({ ...snapshot, [version]: 0 })).toBeUndefined();
  },
);
