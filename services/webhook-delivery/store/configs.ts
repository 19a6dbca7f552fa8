/** Webhook configs in MongoDB, limited to the organization of the caller; secrets are stored encrypted. */
import { type Envelope, NotFound, newId, type Problem, Secret } from '#libs/contract';
import type { Actor, Store, Transaction } from '#libs/store';
import { maxWebhooks, TooManySecrets, TooManyWebhooks, type Webhook } from '../contract.ts';
import { WebhookDisabled } from '../events.ts';
import { isUnexpired, maxSecrets, rotateSecrets } from '../rules/secrets.ts';
import {
  type ConfigRow,
  type SealedSecret,
  sealedSecrets,
  webhookConfigs,
  webhookDeliveries,
} from './collections.ts';

/** The fields of a new webhook. */
export type NewConfig = Pick<ConfigRow, 'name' | 'url' | 'event_types'> & { secret: Secret };

/** The fields of a webhook that may be updated. */
export type Changes = {
  readonly [Field in 'name' | 'url' | 'event_types' | 'is_active']?: ConfigRow[Field] | undefined;
};

/** Returns why the caller may not perform an action on a webhook, or undefined if allowed. */
export type Authorize = (config: ConfigRow) => Problem | undefined;

/** Where deliveries of a webhook are sent, and which secrets sign them. */
export interface Receiver {
  readonly id: string;
  readonly url: string;
  readonly isActive: boolean;
  /** Unexpired secrets, newest first; empty if no key of the keyring decrypts them. */
  readonly secrets: readonly Secret[];
}

/** Upper bound for the clock difference between replicas, and for a clock that is set back. */
const maxClockSkewMs = 3_600_000;

/** Creates the repository of webhook configs. */
export function createConfigs(store: Store, now: () => Date) {
  const sealing = store.sealing(sealedSecrets);
  const rows = store.rows(webhookConfigs);
  const deliveries = store.rows(webhookDeliveries);

  return {
    /** Inserts a webhook; throws `TooManyWebhooks`. Two replicas may exceed the limit by one. */
    create<R>(
      actor: Actor & { user_id: string },
      config: NewConfig,
      reply: (row: ConfigRow) => R,
    ): Promise<R> {
      const { organization_id, user_id } = actor;
      const insert = async (tx: Transaction) => {
        const { session } = tx;
        if ((await rows.countDocuments({ organization_id }, { session })) >= maxWebhooks)
          throw TooManyWebhooks();
        const at = now();
        const { secret, ...fields } = config;
        const row: ConfigRow = {
          _id: newId(),
          organization_id,
          created_by: user_id,
          ...fields,
          is_active: true,
          secrets: [{ sealed: sealing.seal(secret.reveal(), {}), until: null }],
          failures_counted_from: at,
          created_at: at,
          updated_at: at,
        };
        await rows.insertMany([row], { session, lean: true });
        return reply(row);
      };
      return store.withLock(organization_id, () => store.respond(actor, (_, tx) => insert(tx)));
    },

    /** Returns the webhooks after an id, oldest first. */
    list(
      { organization_id }: Actor,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<ConfigRow[]> {
      const filter = after ? { organization_id, _id: { $gt: after } } : { organization_id };
      return rows.find(filter).sort({ _id: 1 }).limit(limit).lean();
    },

    /** Returns a webhook, or undefined if it does not exist. */
    async find({ organization_id, tx }: Actor, id: string): Promise<ConfigRow | undefined> {
      return (await rows.findOne({ _id: id, organization_id }, null, toOptions(tx)).lean()) ?? undefined;
    },

    /** Returns a webhook; throws `NotFound`. */
    get(actor: Actor, id: string): Promise<ConfigRow> {
      return getRow(actor, id);
    },

    /** Updates a webhook; throws `NotFound` or the problem that `authorize` returns. */
    update(actor: Actor, id: string, changes: Changes, authorize: Authorize): Promise<ConfigRow> {
      return store.transact(actor, async (tx) => {
        const row = await getAuthorized(actor, id, authorize, tx);
        const at = now();
        const isReactivated = changes.is_active && !row.is_active;
        const hasNewUrl = changes.url !== undefined && changes.url !== row.url;
        const set = {
          ...changes,
          ...((isReactivated || hasNewUrl) && { failures_counted_from: at }),
          updated_at: at,
        };
        await rows.updateOne({ _id: id }, { $set: set }, { session: tx.session });
        return getRow(actor, id, tx);
      });
    },

    /**
     * Adds a new secret and lets older ones sign until the overlap ends; returns the reply. Throws
     * `NotFound`, `TooManySecrets` or the problem that `authorize` returns.
     */
    rotateSecret<R>(
      actor: Actor,
      id: string,
      { secret, overlapSeconds }: { secret: Secret; overlapSeconds: number },
      authorize: Authorize,
      reply: (row: ConfigRow) => R,
    ): Promise<R> {
      const rotate = async (tx: Transaction) => {
        const row = await getAuthorized(actor, id, authorize, tx);
        const at = now();
        const newSecret = { sealed: sealing.seal(secret.reveal(), {}), until: null };
        const secrets = rotateSecrets(row.secrets, newSecret, { at, overlapSeconds });
        if (secrets.length > maxSecrets) throw TooManySecrets();
        const set = { secrets, updated_at: at };
        await rows.updateOne({ _id: id }, { $set: set }, { session: tx.session });
        return reply({ ...row, ...set });
      };
      return store.withLock(id, () => store.respond(actor, (_, tx) => rotate(tx)));
    },

    /** Deletes expired secrets of all webhooks. */
    async deleteExpiredSecrets(): Promise<void> {
      const expired = { $lte: now() };
      // the partial index is used only if the filter contains the type
      const filter = { 'secrets.until': { ...expired, $type: 'date' as const } };
      await rows.updateMany(filter, { $pull: { secrets: { until: expired } } });
    },

    /** Returns the receiver of one webhook; throws `NotFound`, or an error if no secret can be decrypted. */
    async getReceiver(actor: Actor, id: string): Promise<Receiver> {
      const receiver = toReceiver(await getRow(actor, id));
      if (receiver.secrets.length === 0) throw new Error(`Could not decrypt any secret of webhook ${id}`);
      return receiver;
    },

    /** Deletes a webhook and fails its waiting deliveries. Throws like `update`. */
    async delete(actor: Actor, id: string, authorize: Authorize): Promise<void> {
      await store.transact(actor, async (tx) => {
        await getAuthorized(actor, id, authorize, tx);
        await rows.deleteOne({ _id: id }, { session: tx.session });
        const pending = { config_id: id, status: 'pending' as const, due_at: { $exists: true } };
        const set = { status: 'failed' as const, error: 'webhook_deleted', updated_at: now() };
        const { session } = tx;
        await deliveries.updateMany(pending, { $set: set, $unset: { due_at: 1 } }, { session });
      });
    },

    /**
     * Returns the ids of the webhooks that get an event: active ones that subscribe to its type and were created before
     * it, with one hour of tolerance for clock differences. The time matters because an event without
     * receivers is not logged, so a copy that arrives hours later is not recognized as repeated.
     */
    async findSubscribed({ organization_id, type, occurred_at }: Envelope): Promise<string[]> {
      const created_at = { $lt: new Date(Date.parse(occurred_at) + maxClockSkewMs) };
      const filter = { organization_id, is_active: true, event_types: type, created_at };
      const found = await rows.find(filter, { _id: 1 }).readConcern('majority').lean();
      return found.map(({ _id }) => _id);
    },

    /** Returns the receivers of claimed deliveries by config id, without deleted webhooks. */
    async getReceivers(ids: readonly string[]): Promise<Map<string, Receiver>> {
      const found = await rows
        .find({ _id: { $in: [...new Set(ids)] } })
        .readConcern('majority')
        .lean();
      return new Map(found.map((row) => [row._id, toReceiver(row)]));
    },

    /** Disables an active webhook whose receiver is gone, and publishes `webhook.disabled`. */
    async disable(organization_id: string, id: string): Promise<void> {
      await store.transact({ organization_id, user_id: null }, async (tx) => {
        const filter = { _id: id, organization_id, is_active: true };
        const update = { is_active: false, updated_at: now() };
        const row = await rows.findOneAndUpdate(filter, update, { session: tx.session }).lean();
        if (!row) return;
        const webhook = { id, name: row.name, created_by: row.created_by };
        tx.publish(WebhookDisabled, { webhook, reason: 'gone' });
      });
    },
  };

  async function getRow(actor: Actor, id: string, tx = actor.tx): Promise<ConfigRow> {
    const { organization_id } = actor;
    const row = await rows.findOne({ _id: id, organization_id }, null, toOptions(tx)).lean();
    if (!row) throw NotFound();
    return row;
  }

  async function getAuthorized(
    actor: Actor,
    id: string,
    authorize: Authorize,
    tx: Transaction,
  ): Promise<ConfigRow> {
    const row = await getRow(actor, id, tx);
    const problem = authorize(row);
    if (problem) throw problem;
    return row;
  }

  function toReceiver({ _id, url, is_active, secrets }: ConfigRow): Receiver {
    const unexpired = secrets.filter((secret) => isUnexpired(secret, now()));
    return { id: _id, url, isActive: is_active, secrets: unexpired.flatMap(openSecret) };
  }

  /** Does not throw, because one unreadable secret must not block the rest of a batch. */
  function openSecret({ sealed }: SealedSecret): Secret[] {
    try {
      return [new Secret(sealing.open(sealed, {}))];
    } catch {
      return [];
    }
  }
}

export type Configs = ReturnType<typeof createConfigs>;

/** Maps a row to the webhook that clients see. */
export function toWebhook(row: ConfigRow): Webhook {
  return {
    id: row._id,
    organization_id: row.organization_id,
    created_by: row.created_by,
    name: row.name,
    url: row.url,
    // only validated event types are stored
    event_types: row.event_types as Webhook['event_types'],
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
  };
}

function toOptions(tx: Transaction | undefined) {
  return tx ? { session: tx.session } : {};
}
