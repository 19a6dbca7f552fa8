/** The relay: brings events from the outbox to the bus, at once after a commit and by a sweep after a crash. */
import { setTimeout as pause } from 'node:timers/promises';
import type mongoose from 'mongoose';
import { type Envelope, newId } from '#libs/contract';
import { type Bus, BusClosed, BusDown } from '#libs/events';
import { leaseMs, type OutboxRow, requeue } from './outbox.ts';

/** While there is something to sweep, or might soon be. */
const sweepEveryMs = 1_000;
/** Otherwise: what is left is that of processes that died, and waits for the end of its lease anyway. */
const calmEveryMs = 3_000;
/** What was published in so long is marked together, ms. */
const gatherMs = 200;
const batch = 200;
const mostInHand = 10 * batch;
const longestPauseMs = 10 * 60_000;

export interface RelayOptions {
  outbox: mongoose.Model<OutboxRow>;
  bus: Bus;
  /** This process's name among replicas. */
  by: string;
  /** Whether no other process publishes this outbox: then old leases are void when the relay starts. */
  alone: boolean;
  now: () => Date;
  wrapPublish?: PublishWrapper;
  onError(what: string, error: unknown): void;
}

/** Does something with an event around its publication. */
export type PublishWrapper = (event: Envelope, publish: (event: Envelope) => Promise<void>) => Promise<void>;

/** A running relay. */
export interface Relay {
  /** Publishes events whose rows were just committed under this process's lease. */
  notify(events: readonly Envelope[]): void;
  /** Publishes again what was published in the last so many ms; gives the number of events. Inboxes fold what was handled. */
  republish(sinceMs: number): Promise<number>;
  /** Publishes nothing new; resolves when what is in hand is done. */
  stop(): Promise<void>;
}

/** Starts to relay. */
export function startRelay(options: RelayOptions): Relay {
  const { outbox, bus, by, alone, now, onError, wrapPublish = (event, publish) => publish(event) } = options;
  const inHand = new Map<string, Promise<void>>();
  let published: string[] = [];
  let marking: Promise<void> | undefined;
  let stopped = false;
  let rests = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping = sweep(alone);

  return {
    notify(events) {
      if (stopped) return;
      for (const event of events) if (inHand.size < mostInHand) take(event, 0);
    },
    async republish(sinceMs) {
      // what was taken before the loss and is not yet marked would be left out
      await Promise.all(inHand.values());
      const count = await requeue(outbox, new Date(now().getTime() - sinceMs), now());
      if (rests) schedule(0);
      return count;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
      await Promise.all(inHand.values());
      await mark();
    },
  };

  function take(event: Envelope, failures: number): void {
    if (inHand.has(event.id)) return;
    const work = publish(event, failures).finally(() => inHand.delete(event.id));
    inHand.set(event.id, work);
  }

  async function publish(event: Envelope, failures: number): Promise<void> {
    try {
      await wrapPublish(event, (traced) => bus.publish(traced));
    } catch (error) {
      const giveBack = stopped || error instanceof BusClosed || error instanceof BusDown;
      if (!giveBack) onError(`${event.type} ${event.id} could not be published`, error);
      const pauseMs = Math.min(longestPauseMs, 1_000 * 2 ** failures);
      const next = giveBack
        ? { lease_until: now() }
        : { lease_until: new Date(now().getTime() + pauseMs), failures: failures + 1 };
      await keep(outbox.updateOne({ _id: event.id, pending: true }, next));
      if (rests) schedule(sweepEveryMs);
      return;
    }
    published.push(event.id);
    marking ??= pause(gatherMs).then(mark);
    await marking;
  }

  /** Marks everything published since the last time in one update: until then a crash would have it published again. */
  async function mark(): Promise<void> {
    marking = undefined;
    const ids = published;
    published = [];
    if (ids.length === 0) return;
    const set = { $set: { published_at: now() }, $unset: { pending: 1, lease_until: 1, lease_by: 1 } };
    await keep(outbox.updateMany({ _id: { $in: ids } }, set));
  }

  async function sweep(ignoreLeases: boolean): Promise<void> {
    try {
      const room = Math.min(batch, mostInHand - inHand.size);
      const claimed = bus.up && room > 0 ? await claim(room, ignoreLeases) : undefined;
      schedule(claimed === batch ? 0 : claimed === 0 ? calmEveryMs : sweepEveryMs);
    } catch (error) {
      onError('The outbox could not be swept', error);
      schedule(sweepEveryMs);
    }
  }

  function schedule(inMs: number): void {
    if (stopped) return;
    clearTimeout(timer);
    rests = inMs === calmEveryMs;
    timer = setTimeout(() => {
      rests = false;
      sweeping = sweep(false);
    }, inMs);
    timer.unref();
  }

  /** Leases due rows, by a token so that replicas do not share any, and publishes them; gives their number. */
  async function claim(most: number, ignoreLeases: boolean): Promise<number> {
    const due = {
      pending: true as const,
      lease_until: { $lt: ignoreLeases ? new Date(now().getTime() + longestPauseMs) : now() },
      _id: { $nin: [...inHand.keys()] },
    };
    const rows = await outbox.find(due, { _id: 1 }).sort({ lease_until: 1 }).limit(most).lean();
    if (rows.length === 0) return 0;
    const token = `${by}/${newId()}`;
    const ids = rows.map((row) => row._id);
    const lease_until = new Date(now().getTime() + leaseMs);
    await outbox.updateMany({ ...due, _id: { $in: ids } }, { lease_until, lease_by: token });
    const mine = await outbox.find({ _id: { $in: ids }, lease_by: token }).lean();
    for (const row of mine) take(JSON.parse(row.event), row.failures);
    return rows.length;
  }

  async function keep(write: PromiseLike<unknown>): Promise<void> {
    try {
      await write;
    } catch (error) {
      onError('The outbox could not be written; the sweep will publish again', error);
    }
  }
}
