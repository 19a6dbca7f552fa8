/** Webhook configs in MongoDB: within the organization of who asks, their secrets sealed. */
import { type Envelope, NotFound, newId, type Problem, Secret } from '#libs/contract';
import type { Actor, Store, Transaction } from '#libs/store';
import { maxWebhooks, TooManySecrets, TooManyWebhooks, type Webhook } from '../contract.ts';
import { WebhookDisabled } from '../events.ts';
import { isInForce, maxSecrets, rotated } from '../rules/secrets.ts';
import {
  type ConfigRow,
  type SealedSecret,
  sealedSecrets,
  webhookConfigs,
  webhookDeliveries,
} from './collections.ts';

/** What a webhook is made of. */
export type NewConfig = Pick<ConfigRow, 'name' | 'url' | 'event_types'> & { secret: Secret };

/** What may be changed of it. */
export type Changes = {
  readonly [Field in 'name' | 'url' | 'event_types' | 'is_active']?: ConfigRow[Field] | undefined;
};

/** Why somebody may not do this to a webhook; nothing when they may. */
export type Refuses = (config: ConfigRow) => Problem | undefined;

/** Where a delivery goes, and what it is signed with. */
export interface Receiver {
  readonly id: string;
  readonly url: string;
  readonly isActive: boolean;
  /** The secrets in force, newest first; none when no key of the ring opens them. */
  readonly secrets: readonly Secret[];
}

/** No two clocks of replicas differ by so much, and none is set back by as much. */
const clocksDifferMs = 3_600_000;

/** Reads and writes webhook configs. */
export function configs(store: Store, now: () => Date) {
  const sealing = store.sealing(sealedSecrets);
  const rows = store.rows(webhookConfigs);
  const deliveries = store.rows(webhookDeliveries);

  return {
    /** Keeps a new webhook and gives the reply; `TooManyWebhooks`. Two replicas at the same moment may go one over the limit. */
    add<R>(acting: Actor & { user_id: string }, config: NewConfig, reply: (row: ConfigRow) => R): Promise<R> {
      const { organization_id, user_id } = acting;
      const add = async (tx: Transaction) => {
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
      return store.withLock(organization_id, () => store.respond(acting, (_, tx) => add(tx)));
    },

    /** Webhooks after an id, the oldest first. */
    list(
      { organization_id }: Actor,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<ConfigRow[]> {
      const filter = after ? { organization_id, _id: { $gt: after } } : { organization_id };
      return rows.find(filter).sort({ _id: 1 }).limit(limit).lean();
    },

    /** One webhook; nothing when there is none. */
    async known({ organization_id, tx }: Actor, id: string): Promise<ConfigRow | undefined> {
      return (await rows.findOne({ _id: id, organization_id }, null, within(tx)).lean()) ?? undefined;
    },

    /** One webhook; `NotFound`. */
    one(acting: Actor, id: string): Promise<ConfigRow> {
      return find(acting, id);
    },

    /** Changes a webhook; `NotFound`, or what `refuses` says. */
    change(acting: Actor, id: string, changed: Changes, refuses: Refuses): Promise<ConfigRow> {
      return store.transact(acting, async (tx) => {
        const row = await findAllowed(acting, id, refuses, tx);
        const at = now();
        const isAnew = changed.is_active && !row.is_active;
        const isElsewhere = changed.url !== undefined && changed.url !== row.url;
        const set = {
          ...changed,
          ...((isAnew || isElsewhere) && { failures_counted_from: at }),
          updated_at: at,
        };
        await rows.updateOne({ _id: id }, { $set: set }, { session: tx.session });
        return find(acting, id, tx);
      });
    },

    /** Has a new secret sign, and older ones beside it for a while; gives the reply. `NotFound`, `TooManySecrets`, or what `refuses` says. */
    rotate<R>(
      acting: Actor,
      id: string,
      { secret, overlapSeconds }: { secret: Secret; overlapSeconds: number },
      refuses: Refuses,
      reply: (row: ConfigRow) => R,
    ): Promise<R> {
      const rotate = async (tx: Transaction) => {
        const row = await findAllowed(acting, id, refuses, tx);
        const at = now();
        const young = { sealed: sealing.seal(secret.reveal(), {}), until: null };
        const secrets = rotated(row.secrets, young, { at, overlapSeconds });
        if (secrets.length > maxSecrets) throw TooManySecrets();
        const set = { secrets, updated_at: at };
        await rows.updateOne({ _id: id }, { $set: set }, { session: tx.session });
        return reply({ ...row, ...set });
      };
      return store.withLock(id, () => store.respond(acting, (_, tx) => rotate(tx)));
    },

    /** Removes secrets that sign no more. */
    async forgetSecrets(): Promise<void> {
      const over = { $lte: now() };
      // the type is what the index asks for
      const some = { 'secrets.until': { ...over, $type: 'date' as const } };
      await rows.updateMany(some, { $pull: { secrets: { until: over } } });
    },

    /** Where one webhook's deliveries go; `NotFound`. */
    async receiver(acting: Actor, id: string): Promise<Receiver> {
      const receiver = receiverOf(await find(acting, id));
      if (receiver.secrets.length === 0) throw new Error(`No key opens a secret of webhook ${id}`);
      return receiver;
    },

    /** Deletes a webhook (`NotFound`, or what `refuses` says) and ends what was still to be sent to it. */
    async remove(acting: Actor, id: string, refuses: Refuses): Promise<void> {
      await store.transact(acting, async (tx) => {
        await findAllowed(acting, id, refuses, tx);
        await rows.deleteOne({ _id: id }, { session: tx.session });
        const waiting = { config_id: id, status: 'pending' as const, due_at: { $exists: true } };
        const end = { status: 'failed' as const, error: 'webhook_deleted', updated_at: now() };
        const { session } = tx;
        await deliveries.updateMany(waiting, { $set: end, $unset: { due_at: 1 } }, { session });
      });
    },

    /**
     * Where an event goes. A webhook is not told what happened before it was made, though clocks may differ: an event that
     * nobody subscribed to may come again hours later, when a broker has lost what it had.
     */
    async subscribed({ organization_id, type, occurred_at }: Envelope): Promise<Receiver[]> {
      const created_at = { $lt: new Date(Date.parse(occurred_at) + clocksDifferMs) };
      const filter = { organization_id, is_active: true, event_types: type, created_at };
      return (await rows.find(filter).readConcern('majority').lean()).map(receiverOf);
    },

    /** Where claimed deliveries go, by config id; deleted ones are missing. */
    async receivers(ids: readonly string[]): Promise<Map<string, Receiver>> {
      const found = await rows
        .find({ _id: { $in: [...new Set(ids)] } })
        .readConcern('majority')
        .lean();
      return new Map(found.map((row) => [row._id, receiverOf(row)]));
    },

    /** Switches a webhook off, because its receiver said that it is gone, and says so, once. */
    async switchOff(organization_id: string, id: string): Promise<void> {
      await store.transact({ organization_id, user_id: null }, async (tx) => {
        const active = { _id: id, organization_id, is_active: true };
        const off = { is_active: false, updated_at: now() };
        const row = await rows.findOneAndUpdate(active, off, { session: tx.session }).lean();
        if (!row) return;
        const webhook = { id, name: row.name, created_by: row.created_by };
        tx.publish(WebhookDisabled, { webhook, reason: 'gone' });
      });
    },
  };

  async function find({ organization_id, tx }: Actor, id: string, mine = tx): Promise<ConfigRow> {
    const row = await rows.findOne({ _id: id, organization_id }, null, within(mine)).lean();
    if (!row) throw NotFound();
    return row;
  }

  async function findAllowed(
    acting: Actor,
    id: string,
    refuses: Refuses,
    tx: Transaction,
  ): Promise<ConfigRow> {
    const row = await find(acting, id, tx);
    const refused = refuses(row);
    if (refused) throw refused;
    return row;
  }

  function receiverOf({ _id, url, is_active, secrets }: ConfigRow): Receiver {
    const inForce = secrets.filter((secret) => isInForce(secret, now()));
    return { id: _id, url, isActive: is_active, secrets: inForce.flatMap(opened) };
  }

  /** One webhook whose secret cannot be opened any more must not hold up the others of its batch. */
  function opened({ sealed }: SealedSecret): Secret[] {
    try {
      return [new Secret(sealing.open(sealed, {}))];
    } catch {
      return [];
    }
  }
}

export type Configs = ReturnType<typeof configs>;

/** A config as clients see it. */
export function toWebhook(row: ConfigRow): Webhook {
  return {
    id: row._id,
    organization_id: row.organization_id,
    created_by: row.created_by,
    name: row.name,
    url: row.url,
    // only recognised types were ever kept
    event_types: row.event_types as Webhook['event_types'],
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
  };
}

function within(tx: Transaction | undefined) {
  return tx ? { session: tx.session } : {};
}
