/** Tests reads of nodes while the document changes. */
import { expect, test } from '@jest/globals';
import { newId, type View } from '#libs/contract';
import type { Store } from '#libs/store';
import { documentNodes } from '../../documents/contract.ts';
import { nodeStore } from './documents.ts';

const snapshot = { id: newId(), organizationId: newId(), rowVersion: 1 };

/** Creates a node store with one in-memory document; `whileReading` runs after its nodes are read. */
function createNodeStore(whileReading: (document: { row_version: number }) => void) {
  const document = { row_version: 1 };
  const read = (view: View) => {
    const finder = {
      one: async () => ({ ...document }),
      async bytes() {
        if (view !== documentNodes) throw new Error('Only nodes are read as bytes');
        const nodes = Buffer.from(`nodes of ${document.row_version}`);
        whileReading(document);
        return nodes;
      },
    };
    return { in: () => finder, unscoped: () => finder };
  };
  // the views implement only what the store uses
  return nodeStore({ read } as unknown as Pick<Store, 'read'>);
}

test('readAt returns the nodes of an unchanged document', async () => {
  expect(String(await createNodeStore(() => {}).readAt(snapshot))).toBe('nodes of 1');
});

test('readAt returns undefined if the document changes during the read', async () => {
  const nodes = createNodeStore((document) => {
    document.row_version += 1;
  });
  expect(await nodes.readAt(snapshot)).toBeUndefined();
});

test('readAt returns undefined if the document changed before the read', async () => {
  expect(await createNodeStore(() => {}).readAt({ ...snapshot, rowVersion: 0 })).toBeUndefined();
});
