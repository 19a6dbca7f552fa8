/** Delivering: takes due deliveries in hand, in batches, has them sent, and has recorded how it went. */
import { setImmediate as afterOthers } from 'node:timers/promises';
import { newId } from '#libs/contract';
import { every, type Worker } from '#libs/service';
import { type Attempting, attempting, type Parcel, parcelOf, unsendable } from './attempting.ts';
import { type Booking, bookings, type Draft } from './booking.ts';
import { type LeavingAlone, leavingAlone } from './leaving-alone.ts';
import type { Metering } from './metering.ts';
import { recording } from './recording.ts';
import { type Candidate, halves, waitingRoom } from './rules/slots.ts';
import type { Sender } from './sending.ts';
import type { Configs } from './store/configs.ts';
import type { Claimed, Queue, Result } from './store/queue.ts';

const pollMs = 250;
const sweepMs = 15_000;
const batch = 200;
/** So many batches are between their claim and their requests at the same time. */
const mostLaunches = 4;

/** What delivering needs. */
export interface Delivering extends Attempting, LeavingAlone {
  queue: Queue;
  metering: Metering;
  configs: Pick<Configs, 'receivers' | 'switchOff'>;
  sender: Sender;
  /** How long a row that is in hand is safe from the sweep. */
  lockMs: number;
  /** For how long outcomes are worth writing while there is no database. */
  keepMs: number;
  trouble(what: string, error: unknown): void;
}

/** The worker; without word from matching it looks every 250 ms. */
export interface Deliverer extends Worker {
  /** Books slots for deliveries that are about to be written, as far as there are any. */
  book(drafts: readonly Draft[]): Booking;
}

/** The worker. */
export function delivering(of: Delivering): Deliverer {
  const { queue, configs, sender, metering } = of;
  const room = waitingRoom();
  const attempt = attempting(of);
  const recorder = recording(of);
  const alone = leavingAlone(of);
  const launches = new Set<Promise<void>>();
  const inHand = new Set<Promise<void>>();
  const booked = bookings({
    lockMs: of.lockMs,
    reserve: (rows) => (stopped ? [] : room.book(rows, alone.limit)),
    release: freed,
    send: hold,
    ring,
  });
  let asked = false;
  let isToLook = false;
  let isBehind = false;
  let stopped = true;
  let turning: Promise<void> | undefined;

  const troubled = (error: unknown) => of.trouble('Due deliveries could not be taken up', error);
  const poll = every(pollMs, look, troubled);
  const sweep = every(sweepMs, tidy, (error) => of.trouble('Deliveries could not be swept', error));

  return {
    book: booked.book,
    start() {
      stopped = false;
      sweep.start();
      poll.start();
    },
    async stop() {
      stopped = true;
      recorder.hurry();
      await Promise.all([poll.stop(), sweep.stop()]);
      await turning;
      await Promise.all([...launches, booked.rest()]);
      await Promise.all(inHand);
      await recorder.rest();
      await alone.rest();
      await sender.close();
    },
  };

  function ring(rows: readonly Candidate[]): void {
    if (stopped || rows.length === 0) return;
    admit(rows);
    turn();
  }

  async function tidy(): Promise<void> {
    alone.tidy();
    metering.ended('failed', await queue.sweep());
  }

  async function look(): Promise<void> {
    isToLook = true;
    turn();
  }

  function turn(): void {
    asked = true;
    if (stopped) return;
    turning ??= takeTurns();
  }

  async function takeTurns(): Promise<void> {
    try {
      while (asked && !stopped) {
        // slots become free in batches
        await afterOthers();
        asked = false;
        if (isToLook && room.free() > 0) await lookAround();
        takeUp();
        if (launches.size >= mostLaunches) await Promise.race(launches);
        else if (room.free() > 0 && (isBehind || room.runsShort())) await lookFurther();
      }
    } catch (error) {
      troubled(error);
    } finally {
      turning = undefined;
    }
  }

  async function lookAround(): Promise<void> {
    isToLook = false;
    isBehind = await letIn(halves(of.random()).flat());
  }

  /** There are slots for more than what is known: replicas look in different places first. */
  async function lookFurther(): Promise<void> {
    asked = true;
    const [these, those] = halves(of.random());
    isBehind = (await letIn(these)) || (await letIn(those));
  }

  /** Lets due rows in; whether there may be more. Rows that are here already do not hide others. */
  async function letIn(shards: readonly number[]): Promise<boolean> {
    const { without, others } = room.supplied();
    const limit = batch + others;
    const candidates = await queue.due({ shards, without: [...without, ...alone.pending()], limit });
    admit(candidates);
    return candidates.length === limit;
  }

  function admit(rows: readonly Candidate[]): void {
    const isLeftAlone = ({ config_id }: Candidate) => alone.limit(config_id) === 0;
    room.add(rows.filter((row) => !isLeftAlone(row)));
    alone.postpone(rows.filter(isLeftAlone).map(({ config_id }) => config_id));
  }

  function takeUp(): void {
    if (stopped || launches.size >= mostLaunches) return;
    const taken = room.take(alone.limit);
    if (taken.length === 0) return;
    const launched = launch(taken).finally(() => {
      launches.delete(launched);
      turn();
    });
    launches.add(launched);
  }

  async function launch(taken: readonly Candidate[]): Promise<void> {
    const parcels = await prepared(taken.map(({ _id }) => _id)).catch((error) => {
      troubled(error);
      return [];
    });
    const sent = new Set(parcels.map(({ row }) => row._id));
    for (const row of taken) if (!sent.has(row._id)) room.release(row);
    for (const parcel of parcels) hold(parcel);
  }

  /** Takes rows in hand and counts their attempts; what comes of it may be sent now. */
  async function prepared(ids: readonly string[]): Promise<Parcel[]> {
    const claimed = await queue.claim(ids, newId());
    if (claimed.length === 0) return [];
    try {
      const [receivers, bodies] = await Promise.all([
        configs.receivers(claimed.map(({ config_id }) => config_id)),
        queue.bodies(claimed.map(({ event_id }) => event_id)),
      ]);
      const ready = new Map<string, Parcel>();
      for (const row of claimed) {
        const parcel = parcelOf(row, receivers.get(row.config_id), bodies.get(row.event_id));
        if (typeof parcel === 'string') end(row, unsendable(parcel));
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
  function hold(parcel: Parcel): void {
    const work = deliver(parcel)
      // the lock runs out and the sweep frees the row
      .catch((error) => of.trouble(`Delivery ${parcel.row._id} came to no end`, error))
      .finally(() => {
        inHand.delete(work);
        freed(parcel.row);
      });
    inHand.add(work);
  }

  function freed(row: Candidate): void {
    room.release(row);
    turn();
  }

  async function deliver(parcel: Parcel): Promise<void> {
    const { row } = parcel;
    const result = await attempt(parcel);
    metering.attempted(result, parcel);
    // first: whoever dies in between leaves a webhook that is off
    if (result.http_status === 410) await configs.switchOff(row.organization_id, row.config_id);
    await end(row, result);
    if (await alone.learn(row.config_id, result)) room.drop(row.config_id);
  }

  async function end(row: Claimed, result: Result): Promise<void> {
    await recorder.record(row, result);
    if (result.verdict.status !== 'pending') metering.ended(result.verdict.status);
  }
}
