/** Reading whole documents while others write. */
import { expect, test } from '@jest/globals';
import { newId, type View } from '#libs/contract';
import type { Store } from '#libs/store';
import { documentNodes, documentStates } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';
import { documentReader } from './documents.ts';

const actor = { organization_id: newId(), user_id: newId() };
const _id = newId();

/** The views over one document in memory; `whileReading` runs after its nodes were read. */
function views(document: { title: string; row_version: number }, whileReading: () => void) {
  const state = () => ({ _id, published_at: null, version: null, department: null, ...document });
  const node = () => ({ _id: newId(), parent_id: null, title: document.title, content: null, order: 0 });
  const one = new Map<View, () => unknown>([
    [documentStates, state],
    [organizationProfiles, () => ({ name: 'Acme' })],
  ]);
  const read = (view: View) => {
    const finder = {
      one: async (filter: Record<string, unknown>) =>
        view === documentStates && filter._id !== _id ? undefined : one.get(view)?.(),
      many: async () => {
        const rows = view === documentNodes ? [node()] : [];
        whileReading();
        return rows;
      },
    };
    return { in: () => finder, anywhere: () => finder };
  };
  // the rows have what the reader needs of the real ones
  return { read } as unknown as Pick<Store, 'read'>;
}

test('a document that changes while it is read is read again', async () => {
  const document = { title: 'v1', row_version: 1 };
  let changes = 1;
  const write = () => {
    if (changes-- > 0) Object.assign(document, { title: 'v2', row_version: 2 });
  };
  const whole = await documentReader(views(document, write))(actor, _id);
  expect([whole?.title, whole?.nodes[0]?.title]).toEqual(['v2', 'v2']);
});

test('a document that never stops changing is a 503, not a mix of two versions', async () => {
  const document = { title: 'v1', row_version: 1 };
  const write = () => {
    document.row_version += 1;
  };
  await expect(documentReader(views(document, write))(actor, _id)).rejects.toMatchObject({
    name: 'unavailable',
  });
});

test('a document that is not there is nothing', async () => {
  const read = documentReader(views({ title: 'v1', row_version: 1 }, () => {}));
  expect(await read(actor, newId())).toBeUndefined();
});
