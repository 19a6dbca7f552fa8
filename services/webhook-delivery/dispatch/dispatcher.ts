/** Claims due deliveries in batches, sends them and records the outcomes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { newId } from '#libs/contract';
import { every, type Worker } from '#libs/service';
import type { DeliveryMetrics } from '../metrics.ts';
import { type Candidate, createFairScheduler } from '../rules/fair-scheduler.ts';
import { splitShards } from '../rules/shards.ts';
import type { Configs } from '../store/configs.ts';
import type { AttemptResult, ClaimedRow, Queue } from '../store/queue.ts';
import type { Sender } from '../transport/sender.ts';
import {
  type AttemptDeps,
  createAttempt,
  type DeliveryJob,
  failUnsendable,
  toDeliveryJob,
} from './attempt.ts';
import { createEndpointBackoff, type EndpointBackoffDeps } from './endpoint-backoff.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import { createReservations, type NewDelivery, type Reservation } from './reservation.ts';

const pollMs = 250;
const sweepMs = 15_000;
const batchSize = 200;
/** Maximum number of batches that are being claimed at the same time. */
const maxConcurrentClaims = 4;

/** Dependencies of the dispatcher. */
export interface DispatcherDeps extends AttemptDeps, EndpointBackoffDeps {
  queue: Queue;
  metrics: DeliveryMetrics;
  configs: Pick<Configs, 'getReceivers' | 'disable'>;
  sender: Sender;
  /** How long a leased row is protected from the sweep, ms. */
  lockMs: number;
  /** How long writing an outcome is retried while MongoDB is unavailable, ms. */
  retryForMs: number;
  onError(message: string, error: unknown): void;
}

/** The worker that delivers. It polls every 250 ms; new deliveries of this process wake it at once. */
export interface Dispatcher extends Worker {
  /** Reserves slots for as many deliveries as possible before they are inserted. */
  reserve(deliveries: readonly NewDelivery[]): Reservation;
}

/** Creates the dispatcher of this process. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { queue, configs, sender, metrics } = deps;
  const scheduler = createFairScheduler();
  const attempt = createAttempt(deps);
  const outcomeWriter = createOutcomeWriter(deps);
  const backoff = createEndpointBackoff(deps);
  const claims = new Set<Promise<void>>();
  const inFlight = new Set<Promise<void>>();
  const reservations = createReservations({
    lockMs: deps.lockMs,
    takeSlots: (rows) => (stopped ? [] : scheduler.reserve(rows, backoff.limit)),
    releaseSlot: onSlotFreed,
    send: track,
    enqueue: enqueueAndDispatch,
  });
  let isRunRequested = false;
  let isPollRequested = false;
  let mayHaveMore = false;
  let stopped = true;
  let running: Promise<void> | undefined;

  const onClaimError = (error: unknown) => deps.onError('Could not claim due deliveries', error);
  const onSweepError = (error: unknown) => deps.onError('Could not sweep expired delivery locks', error);
  const pollTimer = every(pollMs, requestPoll, onClaimError);
  const sweepTimer = every(sweepMs, cleanUp, onSweepError);

  return {
    reserve: reservations.reserve,
    start() {
      stopped = false;
      sweepTimer.start();
      pollTimer.start();
    },
    async stop() {
      stopped = true;
      outcomeWriter.flush();
      await Promise.all([pollTimer.stop(), sweepTimer.stop()]);
      await running;
      await Promise.all([...claims, reservations.idle()]);
      await Promise.all(inFlight);
      await outcomeWriter.idle();
      await backoff.idle();
      await sender.close();
    },
  };

  function enqueueAndDispatch(rows: readonly Candidate[]): void {
    if (stopped || rows.length === 0) return;
    enqueue(rows);
    dispatch();
  }

  async function cleanUp(): Promise<void> {
    backoff.evictStale();
    metrics.recordFinished('failed', await queue.sweep());
  }

  async function requestPoll(): Promise<void> {
    isPollRequested = true;
    dispatch();
  }

  function dispatch(): void {
    isRunRequested = true;
    if (stopped) return;
    running ??= runLoop();
  }

  async function runLoop(): Promise<void> {
    try {
      while (isRunRequested && !stopped) {
        // several slots often become free in one turn of the event loop
        await nextTurn();
        isRunRequested = false;
        if (isPollRequested && scheduler.free() > 0) await poll();
        schedule();
        if (claims.size >= maxConcurrentClaims) await Promise.race(claims);
        else if (scheduler.free() > 0 && (mayHaveMore || scheduler.needsRefill())) await pollMore();
      }
    } catch (error) {
      onClaimError(error);
    } finally {
      running = undefined;
    }
  }

  async function poll(): Promise<void> {
    isPollRequested = false;
    mayHaveMore = await fetchDue(splitShards(deps.random()).flat());
  }

  /**
   * Fetches more due rows because slots are free. Replicas start at random shards, so they rarely fetch the
   * same rows.
   */
  async function pollMore(): Promise<void> {
    isRunRequested = true;
    const [firstHalf, secondHalf] = splitShards(deps.random());
    mayHaveMore = (await fetchDue(firstHalf)) || (await fetchDue(secondHalf));
  }

  /** Queues due rows of some shards. Returns whether there may be more. */
  async function fetchDue(shards: readonly number[]): Promise<boolean> {
    const { without, others } = scheduler.saturated();
    // the result may contain every row that is already queued here, so the limit is raised by their number
    const limit = batchSize + others;
    const candidates = await queue.findDue({ shards, without: [...without, ...backoff.pending()], limit });
    enqueue(candidates);
    return candidates.length === limit;
  }

  function enqueue(rows: readonly Candidate[]): void {
    const isBlocked = ({ config_id }: Candidate) => backoff.limit(config_id) === 0;
    scheduler.add(rows.filter((row) => !isBlocked(row)));
    backoff.postpone(rows.filter(isBlocked).map(({ config_id }) => config_id));
  }

  function schedule(): void {
    if (stopped || claims.size >= maxConcurrentClaims) return;
    const rows = scheduler.take(backoff.limit);
    if (rows.length === 0) return;
    const launch = claimAndStart(rows).finally(() => {
      claims.delete(launch);
      dispatch();
    });
    claims.add(launch);
  }

  async function claimAndStart(rows: readonly Candidate[]): Promise<void> {
    const jobs = await claim(rows.map(({ _id }) => _id)).catch((error) => {
      onClaimError(error);
      return [];
    });
    const startedIds = new Set(jobs.map(({ row }) => row._id));
    for (const row of rows) if (!startedIds.has(row._id)) scheduler.release(row);
    for (const job of jobs) track(job);
  }

  /** Claims rows and counts their attempts. Returns the jobs that may be sent now. */
  async function claim(ids: readonly string[]): Promise<DeliveryJob[]> {
    const claimed = await queue.claim(ids, newId());
    if (claimed.length === 0) return [];
    try {
      const [receivers, events] = await Promise.all([
        configs.getReceivers(claimed.map(({ config_id }) => config_id)),
        queue.getEvents(claimed.map(({ event_id }) => event_id)),
      ]);
      const jobs = new Map<string, DeliveryJob>();
      for (const row of claimed) {
        const job = toDeliveryJob(row, receivers.get(row.config_id), events.get(row.event_id));
        if (typeof job === 'string') recordOutcome(row, failUnsendable(job));
        else jobs.set(row._id, job);
      }
      const rows = [...jobs.values()].map(({ row }) => row);
      if (stopped) await queue.release(rows);
      const counted = stopped ? [] : await queue.countAttempts(rows);
      return counted.flatMap((row) => {
        const job = jobs.get(row._id);
        return job ? [{ ...job, row }] : [];
      });
    } catch (error) {
      await queue.release(claimed);
      throw error;
    }
  }

  /** Starts a delivery and keeps its slot until the outcome is recorded. */
  function track(job: DeliveryJob): void {
    const work = deliver(job)
      // the row stays locked until its lock expires; then the sweep unlocks it
      .catch((error) => deps.onError(`Delivery ${job.row._id} failed unexpectedly`, error))
      .finally(() => {
        inFlight.delete(work);
        onSlotFreed(job.row);
      });
    inFlight.add(work);
  }

  function onSlotFreed(row: Candidate): void {
    scheduler.release(row);
    dispatch();
  }

  async function deliver(job: DeliveryJob): Promise<void> {
    const { row } = job;
    const result = await attempt(job);
    metrics.recordAttempt(result, job);
    // disabled before the outcome is recorded: after a crash in between, the webhook is at least disabled
    if (result.http_status === 410) await configs.disable(row.organization_id, row.config_id);
    await recordOutcome(row, result);
    if (await backoff.recordResult(row.config_id, result)) scheduler.drop(row.config_id);
  }

  async function recordOutcome(row: ClaimedRow, result: AttemptResult): Promise<void> {
    await outcomeWriter.record(row, result);
    if (result.decision.status !== 'pending') metrics.recordFinished(result.decision.status);
  }
}
