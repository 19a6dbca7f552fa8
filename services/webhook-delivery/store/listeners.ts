/** Listeners in MongoDB: who listens, and until when. */
import { newId, Secret } from '#libs/contract';
import { type Actor, type Store, toSessionOptions } from '#libs/store';
import { listenerLifetimeMs } from '../rules/listeners.ts';
import { type ListenerRow, sealedListenerSecret, webhookListeners } from './collections.ts';

/** A listener that gets new events. */
export type LiveListener = Pick<ListenerRow, '_id' | 'organization_id' | 'created_at'>;

type User = Actor & { user_id: string };

/** Creates the repository of listeners. A listener that has expired does not exist. */
export function createListeners(store: Pick<Store, 'rows' | 'sealing'>, now: () => Date) {
  const sealing = store.sealing(sealedListenerSecret);
  const rows = store.rows(webhookListeners);
  const isLive = () => ({ expires_at: { $gt: now() } });

  return {
    /** Returns the number of listeners of an organization. */
    count: ({ organization_id, tx }: Actor): Promise<number> =>
      rows.countDocuments({ organization_id, ...isLive() }, toSessionOptions(tx)),

    /** Inserts a listener without events. */
    async insert({ organization_id, user_id, tx }: User, secret: Secret): Promise<ListenerRow> {
      const [_id, at] = [newId(), now()];
      const sealed = sealing.seal(secret.reveal(), { _id });
      const times = { created_at: at, expires_at: getExpiry(at) };
      const row: ListenerRow = { _id, organization_id, user_id, secret: sealed, ...times };
      await rows.insertMany([row], { ...toSessionOptions(tx), lean: true });
      return row;
    },

    /** Returns a listener of the user, or undefined if it does not exist. */
    async find({ organization_id, user_id }: User, _id: string): Promise<ListenerRow | undefined> {
      const filter = { _id, organization_id, user_id, ...isLive() };
      return (await rows.findOne(filter).readConcern('majority').lean()) ?? undefined;
    },

    /** Decrypts the secret that signs the events of a listener. */
    openSecret: ({ _id, secret }: ListenerRow): Secret => new Secret(sealing.open(secret, { _id })),

    /** Extends the life of a listener. */
    async extend({ _id }: ListenerRow): Promise<void> {
      await rows.updateOne({ _id }, { $set: { expires_at: getExpiry(now()) } });
    },

    /** Deletes a listener of the user. Returns whether it existed. */
    async delete({ organization_id, user_id }: User, _id: string): Promise<boolean> {
      const { deletedCount } = await rows.deleteOne({ _id, organization_id, user_id, ...isLive() });
      return deletedCount > 0;
    },

    /** Returns the listeners of all organizations. */
    listLive: (): Promise<LiveListener[]> =>
      // without exec, each `then` would repeat the query
      rows.find(isLive(), { organization_id: 1, created_at: 1 }).readConcern('majority').lean().exec(),
  };
}

export type Listeners = ReturnType<typeof createListeners>;

function getExpiry(at: Date): Date {
  return new Date(at.getTime() + listenerLifetimeMs);
}
