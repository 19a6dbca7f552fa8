/**
 * The relay: publishes the events of the outbox, directly after a commit, and by a sweep after a crash or a
 * failure.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type mongoose from 'mongoose';
import { type Envelope, newId } from '#libs/contract';
import { type Bus, BusClosed, BusDown } from '#libs/events';
import { leaseMs, type OutboxRow, requeue } from './outbox.ts';

/** The sweep interval while events are due or will be soon, ms. */
const sweepEveryMs = 1_000;
/**
 * The sweep interval otherwise, ms: only events of crashed processes remain, and their leases must expire
 * first.
 */
const idleSweepEveryMs = 3_000;
/** Events published within this interval are marked in one update, ms. */
const markEveryMs = 200;
const batchSize = 200;
const maxInFlight = 10 * batchSize;
const maxPauseMs = 10 * 60_000;

/** Options of a relay. */
export interface RelayOptions {
  outbox: mongoose.Model<OutboxRow>;
  bus: Bus;
  /** The id of this process, unique among replicas. */
  by: string;
  /** Whether only this process publishes the outbox: if so, the relay ignores leases when it starts. */
  alone: boolean;
  now: () => Date;
  wrapPublish?: PublishWrapper;
  onError(message: string, error: unknown): void;
}

/** Wraps the publication of an event, e.g. in a span. It must call `publish`. */
export type PublishWrapper = (event: Envelope, publish: (event: Envelope) => Promise<void>) => Promise<void>;

/** A running relay. */
export interface Relay {
  /** Publishes events that were just committed under this process's lease. */
  notify(events: readonly Envelope[]): void;
  /**
   * Republishes the events published in the last `sinceMs`; returns their number. Inboxes deduplicate them.
   */
  republish(sinceMs: number): Promise<number>;
  /** Stops publishing. Resolves when the events in flight are published and marked. */
  stop(): Promise<void>;
}

/** Starts a relay. It sweeps the outbox at once and then at intervals. */
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
      // an event that the broker confirmed and lost, but that is not marked yet, would be missed
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
      if (!isReleased) onError(`Could not publish ${event.type} ${event.id}`, error);
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

  /**
   * Marks the events published since the last call in one update. If the process crashes before the update,
   * they are published again.
   */
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
      onError('Could not sweep the outbox', error);
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

  /** Leases due rows with a unique token and publishes them. Returns the number of due rows found. */
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
      onError('Could not update the outbox; the sweep will publish the events again', error);
    }
  }
}
