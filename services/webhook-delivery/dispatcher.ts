/** Delivering: takes due deliveries in hand, in batches, has them sent, and has recorded how it went. */
import { setImmediate as afterOthers } from 'node:timers/promises';
import { newId } from '#libs/contract';
import { every, type Worker } from '#libs/service';
import {
  type AttemptDeps,
  createAttempt,
  type DeliveryJob,
  failUnsendable,
  toDeliveryJob,
} from './attempt.ts';
import { type EndpointBackoffDeps, endpointBackoff } from './endpoint-backoff.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import { createReservations, type NewDelivery, type Reservation } from './reservation.ts';
import { type Candidate, fairScheduler, halves } from './rules/fair-scheduler.ts';
import type { Sender } from './transport/sender.ts';
import type { Configs } from './store/configs.ts';
import type { Claimed, Queue, Result } from './store/queue.ts';

const pollMs = 250;
const sweepMs = 15_000;
const batch = 200;
/** So many batches are between their claim and their requests at the same time. */
const mostLaunches = 4;

/** What delivering needs. */
export interface DispatcherDeps extends AttemptDeps, EndpointBackoffDeps {
  queue: Queue;
  metering: DeliveryMetrics;
  configs: Pick<Configs, 'receivers' | 'switchOff'>;
  sender: Sender;
  /** How long a row that is in hand is safe from the sweep. */
  lockMs: number;
  /** For how long outcomes are worth writing while there is no database. */
  keepMs: number;
  onError(what: string, error: unknown): void;
}

/** The worker; without word from matching it looks every 250 ms. */
export interface Dispatcher extends Worker {
  /** Books slots for deliveries that are about to be written, as far as there are any. */
  reserve(drafts: readonly NewDelivery[]): Reservation;
}

/** The worker. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { queue, configs, sender, metering } = deps;
  const scheduler = fairScheduler();
  const attempt = createAttempt(deps);
  const recorder = createOutcomeWriter(deps);
  const backoff = endpointBackoff(deps);
  const launches = new Set<Promise<void>>();
  const inFlight = new Set<Promise<void>>();
  const reservations = createReservations({
    lockMs: deps.lockMs,
    reserve: (rows) => (stopped ? [] : scheduler.reserve(rows, backoff.limit)),
    release: onSlotFreed,
    send: track,
    wake,
  });
  let asked = false;
  let isToLook = false;
  let isBehind = false;
  let stopped = true;
  let running: Promise<void> | undefined;

  const onPollError = (error: unknown) => deps.onError('Due deliveries could not be taken up', error);
  const pollTimer = every(pollMs, requestPoll, onPollError);
  const sweepTimer = every(sweepMs, cleanUp, (error) => deps.onError('Deliveries could not be swept', error));

  return {
    reserve: reservations.reserve,
    start() {
      stopped = false;
      sweepTimer.start();
      pollTimer.start();
    },
    async stop() {
      stopped = true;
      recorder.flush();
      await Promise.all([pollTimer.stop(), sweepTimer.stop()]);
      await running;
      await Promise.all([...launches, reservations.rest()]);
      await Promise.all(inFlight);
      await recorder.idle();
      await backoff.rest();
      await sender.close();
    },
  };

  function wake(rows: readonly Candidate[]): void {
    if (stopped || rows.length === 0) return;
    enqueue(rows);
    dispatch();
  }

  async function cleanUp(): Promise<void> {
    backoff.tidy();
    metering.ended('failed', await queue.sweep());
  }

  async function requestPoll(): Promise<void> {
    isToLook = true;
    dispatch();
  }

  function dispatch(): void {
    asked = true;
    if (stopped) return;
    running ??= runLoop();
  }

  async function runLoop(): Promise<void> {
    try {
      while (asked && !stopped) {
        // slots become free in batches
        await afterOthers();
        asked = false;
        if (isToLook && scheduler.free() > 0) await poll();
        schedule();
        if (launches.size >= mostLaunches) await Promise.race(launches);
        else if (scheduler.free() > 0 && (isBehind || scheduler.needsRefill())) await pollMore();
      }
    } catch (error) {
      onPollError(error);
    } finally {
      running = undefined;
    }
  }

  async function poll(): Promise<void> {
    isToLook = false;
    isBehind = await fetchDue(halves(deps.random()).flat());
  }

  /** There are slots for more than what is known: replicas look in different places first. */
  async function pollMore(): Promise<void> {
    asked = true;
    const [these, those] = halves(deps.random());
    isBehind = (await fetchDue(these)) || (await fetchDue(those));
  }

  /** Lets due rows in; whether there may be more. Rows that are here already do not hide others. */
  async function fetchDue(shards: readonly number[]): Promise<boolean> {
    const { without, others } = scheduler.saturated();
    const limit = batch + others;
    const candidates = await queue.due({ shards, without: [...without, ...backoff.pending()], limit });
    enqueue(candidates);
    return candidates.length === limit;
  }

  function enqueue(rows: readonly Candidate[]): void {
    const isLeftAlone = ({ config_id }: Candidate) => backoff.limit(config_id) === 0;
    scheduler.add(rows.filter((row) => !isLeftAlone(row)));
    backoff.postpone(rows.filter(isLeftAlone).map(({ config_id }) => config_id));
  }

  function schedule(): void {
    if (stopped || launches.size >= mostLaunches) return;
    const taken = scheduler.take(backoff.limit);
    if (taken.length === 0) return;
    const launched = claimAndStart(taken).finally(() => {
      launches.delete(launched);
      dispatch();
    });
    launches.add(launched);
  }

  async function claimAndStart(taken: readonly Candidate[]): Promise<void> {
    const parcels = await claim(taken.map(({ _id }) => _id)).catch((error) => {
      onPollError(error);
      return [];
    });
    const sent = new Set(parcels.map(({ row }) => row._id));
    for (const row of taken) if (!sent.has(row._id)) scheduler.release(row);
    for (const parcel of parcels) track(parcel);
  }

  /** Takes rows in hand and counts their attempts; what comes of it may be sent now. */
  async function claim(ids: readonly string[]): Promise<DeliveryJob[]> {
    const claimed = await queue.claim(ids, newId());
    if (claimed.length === 0) return [];
    try {
      const [receivers, bodies] = await Promise.all([
        configs.receivers(claimed.map(({ config_id }) => config_id)),
        queue.bodies(claimed.map(({ event_id }) => event_id)),
      ]);
      const ready = new Map<string, DeliveryJob>();
      for (const row of claimed) {
        const parcel = toDeliveryJob(row, receivers.get(row.config_id), bodies.get(row.event_id));
        if (typeof parcel === 'string') end(row, failUnsendable(parcel));
        else ready.set(row._id, parcel);
      }
      const rows = [...ready.values()].map(({ row }) => row);
      if (stopped) await queue.giveBack(rows);
      const counted = stopped ? [] : await queue.count(rows);
      return counted.flatMap((row) => {
        const parcel = ready.get(row._id);
        return parcel ? [{ ...parcel, row }] : [];
      });
    } catch (error) {
      await queue.giveBack(claimed);
      throw error;
    }
  }

  /** Has a delivery in hand until its outcome is recorded. */
  function track(parcel: DeliveryJob): void {
    const work = deliver(parcel)
      // the lock runs out and the sweep frees the row
      .catch((error) => deps.onError(`Delivery ${parcel.row._id} came to no end`, error))
      .finally(() => {
        inFlight.delete(work);
        onSlotFreed(parcel.row);
      });
    inFlight.add(work);
  }

  function onSlotFreed(row: Candidate): void {
    scheduler.release(row);
    dispatch();
  }

  async function deliver(parcel: DeliveryJob): Promise<void> {
    const { row } = parcel;
    const result = await attempt(parcel);
    metering.attempted(result, parcel);
    // first: whoever dies in between leaves a webhook that is off
    if (result.http_status === 410) await configs.switchOff(row.organization_id, row.config_id);
    await end(row, result);
    if (await backoff.learn(row.config_id, result)) scheduler.drop(row.config_id);
  }

  async function end(row: Claimed, result: Result): Promise<void> {
    await recorder.record(row, result);
    if (result.verdict.status !== 'pending') metering.ended(result.verdict.status);
  }
}
