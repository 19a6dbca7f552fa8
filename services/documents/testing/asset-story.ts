/** Writes and deletes references to assets at two replicas, with a clock that can jump, and checks what must hold. */
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { toAssetKey } from '../asset-views.ts';
import { toAssetIds } from '../rules/asset-references.ts';
import { assets as createAssets } from '../store/assets.ts';
import { type AssetRow, assetFiles, assets as assetRows, nodes as nodeRows } from '../store/collections.ts';
import { trees } from '../store/tree.ts';
import { createUnreferencedAssets } from '../store/unreferenced-assets.ts';
import { deleteUnreferencedAssets } from '../unreferenced-assets.ts';
import { documentRow, nodeRow } from './rows.ts';
import { createTestRepository } from './store-fixture.ts';

const hourMs = 3_600_000;

/** The story of one organization. */
export type AssetStory = ReturnType<typeof createAssetStory>;

/** Returns rich text with images that name these assets. */
export function toContent(ids: readonly string[]): string {
  const content = ids.map((id) => ({ type: 'image', attrs: { src: `asset:${id}` } }));
  return JSON.stringify({ type: 'doc', content });
}

/** Starts a story with a clock at a fixed time. Its functions take the replica from `at`. */
export function createAssetStory(stores: readonly Store[]) {
  const organization_id = newId();
  const actor = { organization_id, user_id: newId() };
  const clock = { time: Date.parse('2026-11-21T09:30:00.000Z') };
  const now = () => new Date(clock.time);
  const replicas = stores.map((store) => ({
    store,
    assets: createAssets(store, { claim: async () => undefined }, now),
    unreferenced: createUnreferencedAssets(store, now),
    repository: createTestRepository(store, now),
    trees: trees(store),
  }));
  const get = (at: number) => {
    const replica = replicas[at % replicas.length];
    if (!replica) throw new Error('There are no replicas');
    return replica;
  };
  const { store } = get(0);
  const rows = {
    assets: store.collection(assetRows),
    files: store.collection(assetFiles),
    nodes: store.collection(nodeRows),
  };
  /** Since when each asset has had no reference; undefined while it has one. */
  const unusedSince = new Map<string, number | undefined>();
  const byId = (_id: string) => ({ _id });

  const story = {
    actor,
    clock,
    rows,
    getReplica: get,

    /** Uploads a picture. Returns the same id for the same number. */
    async upload(number: number, at = 0): Promise<string> {
      const id = String(number).padStart(64, '0');
      const bytes = Uint8Array.of(number);
      await get(at).assets.add(actor, { id, mediaType: 'image/png', width: 1, height: 1, bytes }, () => null);
      // an upload is kept for 24 hours, also that of an asset that has been unused for some time
      unusedSince.delete(id);
      return id;
    },

    /** Creates a document with one node that names these assets, in one transaction. Rejects with the problem. */
    async createDocument(ids: readonly string[], at = 0, isKilled = false): Promise<string> {
      const { repository, assets } = get(at);
      const document = documentRow({ organization_id, created_by: actor.user_id, node_count: 1 });
      const content = toContent(ids);
      const node = nodeRow(document, { content, ...toAssetIds(content) });
      await repository.respondWithNew(await repository.prepareCharge(actor), async (within) => {
        const references = ids.map((id, index) => ({ path: `body/${index}`, id }));
        await assets.reference(within, references, within.tx);
        await repository.create(within, document, [node]);
        if (isKilled) throw new Error('The process was killed');
      });
      return document._id;
    },

    /** Copies a document as `duplicate` does. */
    async copyDocument(id: string, at = 0): Promise<string> {
      const { repository } = get(at);
      const copy = documentRow({ organization_id, node_count: 1 });
      const original = await repository.get(actor, id);
      await repository.copy(await repository.prepareCharge(actor), original, copy);
      return copy._id;
    },

    /** Deletes a document. */
    async deleteDocument(id: string, at = 0): Promise<void> {
      const { repository } = get(at);
      await repository.respond(actor, id, async (within) => {
        await repository.delete(within, await repository.get(within, id));
        return undefined;
      });
    },

    /** Runs the worker of a replica once. Returns the number of deleted assets. */
    async runWorker(at = 0, isStopped?: () => boolean): Promise<number> {
      let deleted = 0;
      const onDeleted = (assets: number) => {
        deleted = assets;
      };
      await deleteUnreferencedAssets({ unreferencedAssets: get(at).unreferenced, onDeleted }, isStopped);
      return deleted;
    },

    /** Moves the clock and runs the worker every hour. */
    async pass(hours: number): Promise<void> {
      for (let hour = 0; hour < hours; hour += 1) {
        clock.time += hourMs;
        await story.runWorker(hour);
        await story.observe();
      }
    },

    /** Moves the clock at once, so that the worker does not run meanwhile. The time does not count as unused. */
    jump(hours: number): void {
      clock.time += hours * hourMs;
      for (const [id, since] of unusedSince)
        if (since !== undefined) unusedSince.set(id, since + hours * hourMs);
    },

    /** Returns the row of an asset. */
    find: (id: string): Promise<AssetRow | null> =>
      rows.assets.findOne(byId(toAssetKey(organization_id, id))),

    /** Throws if a referenced asset is missing, a row has no file, or an unused asset is older than 48 hours. */
    async observe(): Promise<void> {
      const [stored, files, nodes] = await Promise.all([
        rows.assets.find({ organization_id }).toArray(),
        rows.files.find({ organization_id }).toArray(),
        rows.nodes.find({ organization_id, asset_ids: { $exists: true } }).toArray(),
      ]);
      const ids = new Set(stored.map(({ asset_id }) => asset_id));
      const used = new Set(nodes.flatMap(({ asset_ids = [] }) => asset_ids));
      for (const id of used) if (!ids.has(id)) throw new Error(`The referenced asset ${id} is missing`);
      if (files.length !== ids.size || !files.every(({ asset_id }) => ids.has(asset_id)))
        throw new Error('The files are not those of the assets');
      for (const id of unusedSince.keys()) if (!ids.has(id)) unusedSince.delete(id);
      for (const id of ids) {
        const since = used.has(id) ? undefined : (unusedSince.get(id) ?? clock.time);
        unusedSince.set(id, since);
        if (since !== undefined && clock.time - since > 48 * hourMs)
          throw new Error(`The unused asset ${id} is older than 48 hours`);
      }
    },
  };
  return story;
}
