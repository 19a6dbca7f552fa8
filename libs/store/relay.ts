/** The relay: brings events from the outbox to the bus, at once after a commit and by a sweep after a crash. */
import { setTimeout as pause } from 'node:timers/promises';
import type mongoose from 'mongoose';
import { type Envelope, newId } from '#libs/contract';
import { type Bus, BusClosed, BusDown } from '#libs/events';
import { leaseMs, type OutboxRow, requeue } from './outbox.ts';

/** While there is something to sweep, or might soon be. */
const sweepEveryMs = 1_000;
/** Otherwise: what is left is that of processes that died, and waits for the end of its lease anyway. */
const idleSweepEveryMs = 3_000;
/** What was published in so long is marked together, ms. */
const markEveryMs = 200;
const batchSize = 200;
const maxInFlight = 10 * batchSize;
const maxPauseMs = 10 * 60_000;

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
  const inFlight = new Map<string, Promise<void>>();
  let published: string[] = [];
  let marking: Promise<void> | undefined;
  let stopped = false;
  let isIdle = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping = sweep(alone);

  return {
    notify(events) {
      if (stopped) return;
      for (const event of events) if (inFlight.size < maxInFlight) startPublishing(event, 0);
    },
    async republish(sinceMs) {
      // what was taken before the loss and is not yet marked would be left out
      await Promise.all(inFlight.values());
      const count = await requeue(outbox, new Date(now().getTime() - sinceMs), now());
      if (isIdle) schedule(0);
      return count;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
      await Promise.all(inFlight.values());
      await mark();
    },
  };

  function startPublishing(event: Envelope, failures: number): void {
    if (inFlight.has(event.id)) return;
    const work = publish(event, failures).finally(() => inFlight.delete(event.id));
    inFlight.set(event.id, work);
  }

  async function publish(event: Envelope, failures: number): Promise<void> {
    try {
      await wrapPublish(event, (traced) => bus.publish(traced));
    } catch (error) {
      const isReleased = stopped || error instanceof BusClosed || error instanceof BusDown;
      if (!isReleased) onError(`${event.type} ${event.id} could not be published`, error);
      const pauseMs = Math.min(maxPauseMs, 1_000 * 2 ** failures);
      const next = isReleased
        ? { lease_until: now() }
        : { lease_until: new Date(now().getTime() + pauseMs), failures: failures + 1 };
      await update(outbox.updateOne({ _id: event.id, pending: true }, next));
      if (isIdle) schedule(sweepEveryMs);
      return;
    }
    published.push(event.id);
    marking ??= pause(markEveryMs).then(mark);
    await marking;
  }

  /** Marks everything published since the last time in one update: until then a crash would have it published again. */
  async function mark(): Promise<void> {
    marking = undefined;
    const ids = published;
    published = [];
    if (ids.length === 0) return;
    const set = { $set: { published_at: now() }, $unset: { pending: 1, lease_until: 1, lease_by: 1 } };
    await update(outbox.updateMany({ _id: { $in: ids } }, set));
  }

  async function sweep(ignoreLeases: boolean): Promise<void> {
    try {
      const free = Math.min(batchSize, maxInFlight - inFlight.size);
      const claimed = bus.up && free > 0 ? await claim(free, ignoreLeases) : undefined;
      schedule(claimed === batchSize ? 0 : claimed === 0 ? idleSweepEveryMs : sweepEveryMs);
    } catch (error) {
      onError('The outbox could not be swept', error);
      schedule(sweepEveryMs);
    }
  }

  function schedule(inMs: number): void {
    if (stopped) return;
    clearTimeout(timer);
    isIdle = inMs === idleSweepEveryMs;
    timer = setTimeout(() => {
      isIdle = false;
      sweeping = sweep(false);
    }, inMs);
    timer.unref();
  }

  /** Leases due rows, by a token so that replicas do not share any, and publishes them; gives their number. */
  async function claim(limit: number, ignoreLeases: boolean): Promise<number> {
    const due = {
      pending: true as const,
      lease_until: { $lt: ignoreLeases ? new Date(now().getTime() + maxPauseMs) : now() },
      _id: { $nin: [...inFlight.keys()] },
    };
    const rows = await outbox.find(due, { _id: 1 }).sort({ lease_until: 1 }).limit(limit).lean();
    if (rows.length === 0) return 0;
    const token = `${by}/${newId()}`;
    const ids = rows.map((row) => row._id);
    const lease_until = new Date(now().getTime() + leaseMs);
    await outbox.updateMany({ ...due, _id: { $in: ids } }, { lease_until, lease_by: token });
    const claimed = await outbox.find({ _id: { $in: ids }, lease_by: token }).lean();
    for (const row of claimed) startPublishing(JSON.parse(row.event), row.failures);
    return rows.length;
  }

  async function update(write: PromiseLike<unknown>): Promise<void> {
    try {
      await write;
    } catch (error) {
      onError('The outbox could not be written; the sweep will publish again', error);
    }
  }
}
