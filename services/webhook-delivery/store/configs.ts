/** Webhook configs in MongoDB, limited to the organization of the caller; secrets are stored encrypted. */
import { newId, type Secret } from '#libs/contract';
import { type Actor, type Store, toSessionOptions } from '#libs/store';
import { type ConfigRow, type SealedSecret, sealedSecrets, webhookConfigs } from './collections.ts';

/** The fields of a new webhook. */
export type NewConfig = Pick<ConfigRow, 'name' | 'url' | 'event_types'> & { secret: Secret };

/** The fields of a webhook that may change. */
export type Changes = {
  readonly [Field in
    | 'name'
    | 'url'
    | 'event_types'
    | 'is_active'
    | 'secrets'
    | 'failures_counted_from'
    | 'breaker_generation']?: ConfigRow[Field] | undefined;
};

/** Creates the repository of webhook configs. */
export function createConfigs(store: Store, now: () => Date) {
  const sealing = store.sealing(sealedSecrets);
  const rows = store.rows(webhookConfigs);
  const sealSecret = (secret: Secret): SealedSecret => {
    return { sealed: sealing.seal(secret.reveal(), {}), until: null };
  };

  return {
    /** Returns a webhook, or undefined if it does not exist. */
    async find({ organization_id, tx }: Actor, id: string): Promise<ConfigRow | undefined> {
      return (
        (await rows.findOne({ _id: id, organization_id }, null, toSessionOptions(tx)).lean()) ?? undefined
      );
    },

    /** Returns the number of webhooks. */
    count: ({ organization_id, tx }: Actor): Promise<number> =>
      rows.countDocuments({ organization_id }, toSessionOptions(tx)),

    /** Returns the webhooks after an id, oldest first. */
    list(
      { organization_id }: Actor,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<ConfigRow[]> {
      const filter = after ? { organization_id, _id: { $gt: after } } : { organization_id };
      return rows.find(filter).sort({ _id: 1 }).limit(limit).lean();
    },

    /** Encrypts a secret that signs until it is replaced. */
    sealSecret,

    /** Inserts an active webhook. */
    async insert(
      { organization_id, user_id, tx }: Actor & { user_id: string },
      { secret, ...fields }: NewConfig,
    ): Promise<ConfigRow> {
      const secrets = [sealSecret(secret)];
      const row = createRow({ ...fields, organization_id, created_by: user_id, secrets }, now());
      await rows.insertMany([row], { ...toSessionOptions(tx), lean: true });
      return row;
    },

    /** Updates a webhook that exists, and returns it. */
    async update({ tx }: Actor, row: ConfigRow, changes: Changes): Promise<ConfigRow> {
      const set = { ...changes, updated_at: now() };
      const options = { ...toSessionOptions(tx), returnDocument: 'after' } as const;
      return (await rows.findOneAndUpdate({ _id: row._id }, { $set: set }, options).lean()) ?? row;
    },

    /**
     * Makes the circuit breakers of all processes forget the failures of a webhook and returns it; null if it was
     * deleted, or does not have this URL.
     */
    resetBreakers(
      { organization_id, tx }: Actor,
      id: string,
      { url }: Pick<ConfigRow, 'url'>,
    ): Promise<ConfigRow | null> {
      const options = { ...toSessionOptions(tx), returnDocument: 'after' } as const;
      const update = { $set: { breaker_generation: newId() } };
      return rows.findOneAndUpdate({ _id: id, organization_id, url }, update, options).lean();
    },

    /** Deletes a webhook. */
    async delete({ organization_id, tx }: Actor, id: string): Promise<void> {
      await rows.deleteOne({ _id: id, organization_id }, toSessionOptions(tx));
    },

    /** Deactivates an active webhook and returns it; undefined if it is not active, or does not have this URL. */
    async deactivate(
      { organization_id, tx }: Actor,
      id: string,
      onlyWith: { url?: string } = {},
    ): Promise<ConfigRow | undefined> {
      const filter = { _id: id, organization_id, is_active: true, ...onlyWith };
      const update = { is_active: false, updated_at: now() };
      return (await rows.findOneAndUpdate(filter, update, toSessionOptions(tx)).lean()) ?? undefined;
    },

    /** Deletes expired secrets of all webhooks. */
    async deleteExpiredSecrets(): Promise<void> {
      const until = { $lte: now() };
      // the partial index is used only if the filter contains the type
      const filter = { 'secrets.until': { ...until, $type: 'date' as const } };
      await rows.updateMany(filter, { $pull: { secrets: { until } } });
    },
  };
}

export type Configs = ReturnType<typeof createConfigs>;

function createRow(
  fields: Pick<ConfigRow, 'organization_id' | 'created_by' | 'name' | 'url' | 'event_types' | 'secrets'>,
  at: Date,
): ConfigRow {
  const times = { failures_counted_from: at, created_at: at, updated_at: at };
  return { _id: newId(), ...fields, is_active: true, ...times };
}
