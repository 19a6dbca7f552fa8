/** Tests when assets without a reference are deleted, at two replicas and with a clock that the tests move. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UnknownAssets } from './contract.ts';
import { type AssetStory, createAssetStory } from './testing/asset-story.ts';
import { type DocumentStores, openDocumentStores } from './testing/store-fixture.ts';

let fixture: DocumentStores;
let story: AssetStory;
beforeAll(async () => {
  fixture = await openDocumentStores(2);
});
beforeEach(() => {
  story = createAssetStory(fixture.stores);
});
afterAll(() => fixture?.stop());

describe('an asset', () => {
  test('without a reference is deleted 24 hours after its upload', async () => {
    const id = await story.upload(1);
    await story.pass(23);
    expect(await story.find(id)).not.toBeNull();
    await story.pass(1);
    expect(await story.find(id)).toBeNull();
    expect(await story.rows.files.countDocuments({ organization_id: story.actor.organization_id })).toBe(0);
  });

  test('that is due is left for the next run if the worker stops', async () => {
    const ids = [await story.upload(1), await story.upload(2), await story.upload(3)];
    story.clock.time += 25 * 3_600_000;
    const answers = [false, true];
    expect(await story.runWorker(0, () => answers.shift() ?? true)).toBe(1);
    expect((await Promise.all(ids.map(story.find))).filter((row) => row !== null)).toHaveLength(2);
  });

  test('that is uploaded again is kept for another 24 hours', async () => {
    const id = await story.upload(1);
    await story.pass(20);
    await story.upload(1);
    await story.pass(23);
    expect(await story.find(id)).not.toBeNull();
    await story.pass(1);
    expect(await story.find(id)).toBeNull();
  });

  test('that was referenced is deleted 24 hours after it is marked', async () => {
    const id = await story.upload(1);
    const [document, other] = [await story.createDocument([id]), await story.createDocument([id])];
    await story.pass(60);
    expect((await story.find(id))?.unreferenced_at).toBeUndefined();
    await story.deleteDocument(document);
    await story.pass(60);
    expect(await story.find(id)).not.toBeNull();
    await story.deleteDocument(other);
    await story.pass(24);
    expect(await story.find(id)).not.toBeNull();
    await story.pass(1);
    expect(await story.find(id)).toBeNull();
  });

  test.each(['a new document', 'a copy'])('is kept by %s', async (kind) => {
    const id = await story.upload(1);
    const first = await story.createDocument([id]);
    if (kind === 'a copy') {
      const at = new Date(story.clock.time);
      await story.rows.assets.updateOne({ asset_id: id }, { $set: { unreferenced_at: at } });
      await story.copyDocument(first);
    } else {
      await story.deleteDocument(first);
      await story.runWorker();
      expect((await story.find(id))?.unreferenced_at).toBeInstanceOf(Date);
      await story.createDocument([id]);
    }
    expect((await story.find(id))?.unreferenced_at).toBeUndefined();
  });

  test('of another organization does not count', async () => {
    const other = createAssetStory(fixture.stores);
    const id = await story.upload(1);
    await other.upload(1);
    await other.createDocument([id]);
    await story.pass(25);
    other.clock.time = story.clock.time;
    expect([await story.find(id), (await other.find(id)) !== null]).toEqual([null, true]);
    await expect(story.createDocument([id])).rejects.toMatchObject({ kind: UnknownAssets });
  });

  test('that a node names although it is marked is kept', async () => {
    const id = await story.upload(1);
    await story.createDocument([id]);
    const before = new Date(story.clock.time - 25 * 3_600_000);
    await story.rows.assets.updateOne({ asset_id: id }, { $set: { unreferenced_at: before } });
    expect(await story.runWorker()).toBe(0);
    expect((await story.find(id))?.unreferenced_at).toBeUndefined();
  });
});

test.each(Array.from({ length: 8 }, (_, round) => round))(
  'a write and the worker at once end with a reference or with 400, round %i',
  async (round) => {
    const id = await story.upload(round);
    story.clock.time += 25 * 3_600_000;
    const writes = Array.from({ length: 3 }, (_, at) => story.createDocument([id], at + 1).catch(String));
    const [deleted, ...results] = await Promise.all([story.runWorker(round % 2), ...writes]);
    for (const result of results) {
      const isRejected = String(result).includes(UnknownAssets.title);
      expect(isRejected).toBe(deleted === 1);
    }
    await story.observe();
  },
);

/** An action of a story. Assets have the numbers 0 to 3. */
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('upload' as const), number: fc.nat(3) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('create' as const),
      numbers: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 2 }),
      isKilled: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('copy' as const), document: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('delete' as const), document: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('jump' as const), hours: fc.integer({ min: 1, max: 30 }) }),
  },
);

test('random stories lose no referenced asset and leave no unused one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
      async (steps) => {
        const current = createAssetStory(fixture.stores);
        const documents: string[] = [];
        for (const step of steps) {
          const work = step.map(async (one, at) => {
            if (one.type === 'upload') await current.upload(one.number, at);
            if (one.type === 'create') {
              const ids = one.numbers.map((number) => String(number).padStart(64, '0'));
              const created = await current.createDocument(ids, at, one.isKilled).catch(() => undefined);
              if (created) documents.push(created);
            }
            const id = 'document' in one ? documents[one.document % documents.length] : undefined;
            if (one.type === 'copy' && id) {
              const copy = await current.copyDocument(id, at).catch(() => undefined);
              if (copy) documents.push(copy);
            }
            if (one.type === 'delete' && id) await current.deleteDocument(id, at).catch(() => undefined);
          });
          // the worker of the other replica runs at the same time
          await Promise.all([...work, current.runWorker(1)]);
          await current.observe();
          for (const one of step) {
            if (one.type === 'pass') await current.pass(one.hours);
            if (one.type === 'jump') current.jump(one.hours);
          }
        }
        for (const id of documents) await current.deleteDocument(id).catch(() => undefined);
        await current.pass(49);
        const { organization_id } = current.actor;
        expect(await current.rows.assets.countDocuments({ organization_id })).toBe(0);
        expect(await current.rows.files.countDocuments({ organization_id })).toBe(0);
      },
    ),
    // stops shrinking before Jest stops the test
    { numRuns: 12, interruptAfterTimeLimit: 90_000 },
  );
}, 120_000);
