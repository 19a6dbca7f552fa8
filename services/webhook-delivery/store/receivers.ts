/** Reads the webhooks that get an event, with the secrets that sign their requests. */
import { type Envelope, NotFound, Secret } from '#libs/contract';
import { type Actor, type Store, sharedReadPerKey } from '#libs/store';
import { isUnexpired } from '../rules/secrets.ts';
import { type ConfigRow, type SealedSecret, sealedSecrets, webhookConfigs } from './collections.ts';

/** Where deliveries of a webhook are sent, and which secrets sign them. */
export interface Receiver {
  readonly id: string;
  readonly url: string;
  readonly isActive: boolean;
  /** Changes when earlier failures no longer count for circuit breakers. */
  readonly breakerGeneration: string;
  /** Unexpired secrets, newest first; empty if no key of the keyring decrypts them. */
  readonly secrets: readonly Secret[];
}

/** What events with the same webhooks have in common. */
type Subscription = Pick<Envelope, 'organization_id' | 'type'>;

/** Upper bound for the clock difference between replicas, and for a clock that is set back. */
export const maxClockSkewMs = 3_600_000;

/** Creates the reader of receivers. */
export function createReceivers(store: Store, now: () => Date) {
  const sealing = store.sealing(sealedSecrets);
  const rows = store.rows(webhookConfigs);

  // events of the same organization, type and turn of the event loop share a read
  const readSubscribed = sharedReadPerKey({
    toId: ({ organization_id, type }: Subscription) => `${organization_id} ${type}`,
    async readOne({ organization_id, type }) {
      const filter = { organization_id, is_active: true, event_types: type };
      return rows.find(filter).readConcern('majority').lean();
    },
  });

  return {
    /**
     * Returns the webhooks that get an event: active ones that subscribe to its type and were created
     * before it, with one hour of tolerance for clock differences. The time matters because an event without
     * receivers is not logged, so a copy that arrives hours later is not recognized as repeated.
     */
    async findSubscribed({ organization_id, type, occurred_at }: Envelope): Promise<Receiver[]> {
      const createdBefore = Date.parse(occurred_at) + maxClockSkewMs;
      const subscribed = await readSubscribed({ organization_id, type });
      return subscribed.filter(({ created_at }) => created_at.getTime() < createdBefore).map(toReceiver);
    },

    /** Returns the receivers of claimed deliveries by config id, without deleted webhooks. */
    async getByIds(ids: readonly string[]): Promise<Map<string, Receiver>> {
      const found = await rows
        .find({ _id: { $in: [...new Set(ids)] } })
        .readConcern('majority')
        .lean();
      return new Map(found.map((row) => [row._id, toReceiver(row)]));
    },

    /** Returns the receiver of one webhook; throws `NotFound`, or an error if no secret can be decrypted. */
    async get({ organization_id }: Actor, id: string): Promise<Receiver> {
      const row = await rows.findOne({ _id: id, organization_id }).lean();
      if (!row) throw NotFound();
      const receiver = toReceiver(row);
      if (receiver.secrets.length === 0) throw new Error(`Could not decrypt any secret of webhook ${id}`);
      return receiver;
    },

    /** Returns the breaker generation of a webhook, in the state that a majority has. */
    async getBreakerGeneration(id: string): Promise<string> {
      const row = await rows.findOne({ _id: id }, { breaker_generation: 1 }).readConcern('majority').lean();
      return toBreakerGeneration(row);
    },

    /** Returns whether a webhook still exists, in the state that a majority has. */
    async exists(id: string): Promise<boolean> {
      return (await rows.findOne({ _id: id }, { _id: 1 }).readConcern('majority').lean()) !== null;
    },
  };

  function toReceiver(row: ConfigRow): Receiver {
    const { _id, url, is_active, secrets } = row;
    const unexpired = secrets.filter((secret) => isUnexpired(secret, now()));
    const breakerGeneration = toBreakerGeneration(row);
    return { id: _id, url, isActive: is_active, breakerGeneration, secrets: unexpired.flatMap(openSecret) };
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

function toBreakerGeneration(row: Pick<ConfigRow, 'breaker_generation'> | null): string {
  return row?.breaker_generation ?? '';
}

export type Receivers = ReturnType<typeof createReceivers>;
