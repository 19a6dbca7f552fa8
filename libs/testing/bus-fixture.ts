/** The fixture of the bus conformance suite: for each test a bus with two unique queues, and helpers. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach } from '@jest/globals';
import { type Envelope, newId } from '#libs/contract';
import type { Bus, Retries, Topology } from '#libs/events';
import { until } from './until.ts';

/** A bus under test and its broker. */
export interface BusUnderTest {
  bus: Bus;
  /** Opens another bus over the same broker after the first was closed; it finds the events that are left. */
  reopen(): Promise<Bus>;
  /** Puts bytes that are not an event into a queue, if the broker allows it. */
  inject?(queue: string, bytes: Uint8Array): Promise<void>;
  /** Closes everything and removes the queues. */
  end(): Promise<void>;
}

/** Opens a bus with these retry delays; each test has new queues and event types. */
export type OpenBus = (options: { topology: Topology; retries: Retries }) => Promise<BusUnderTest>;

/** Retry delays in ms for five attempts within a fraction of a second. */
export const quickRetries: Retries = [15, 30, 30, 30];
/** A retry delay in ms that no test waits for. */
export const noRetryInTime: Retries = [600_000];

/** The bus of the current test with its queues and event types. */
export interface BusFixture {
  readonly underTest: BusUnderTest;
  readonly bus: Bus;
  /** A queue that is bound to both event types. */
  readonly alpha: string;
  /** A queue that is bound to `madeType` only. */
  readonly beta: string;
  readonly madeType: string;
  readonly goneType: string;
  /** Replaces the bus by a new one with other retry delays. */
  restart(retries: Retries): Promise<void>;
  /** Consumes a queue and returns the array that collects its events. */
  collect(queue: string, over?: Bus): Promise<Envelope[]>;
  /** Waits until a queue has this many dead letters, and returns them. */
  waitForDead(queue: string, count: number): Promise<Envelope[]>;
}

/** Opens a bus before each test of a suite and removes it afterwards. */
export function busFixture(open: OpenBus): BusFixture {
  let now: Pick<BusFixture, 'underTest' | 'alpha' | 'beta' | 'madeType' | 'goneType'> | undefined;
  const current = () => {
    if (!now) throw new Error('The fixture is only available within a test');
    return now;
  };
  const start = async (retries: Retries) => {
    const unique = randomBytes(4).toString('hex');
    const names = {
      alpha: `alpha-${unique}`,
      beta: `beta-${unique}`,
      madeType: `thing-${unique}.made`,
      goneType: `thing-${unique}.gone`,
    };
    const topology = new Map([
      [names.alpha, [names.madeType, names.goneType]],
      [names.beta, [names.madeType]],
    ]);
    now = { ...names, underTest: await open({ topology, retries }) };
  };
  beforeEach(() => start(quickRetries));
  afterEach(() => now?.underTest.end());

  return {
    get underTest() {
      return current().underTest;
    },
    get bus() {
      return current().underTest.bus;
    },
    get alpha() {
      return current().alpha;
    },
    get beta() {
      return current().beta;
    },
    get madeType() {
      return current().madeType;
    },
    get goneType() {
      return current().goneType;
    },
    async restart(retries) {
      await current().underTest.end();
      await start(retries);
    },
    async collect(queue, over = current().underTest.bus) {
      const events: Envelope[] = [];
      await over.consume(queue, async (event) => void events.push(event), { prefetch: 8 });
      return events;
    },
    waitForDead(queue, count) {
      return until(`${count} dead in ${queue}`, async () => {
        const dead = await current().underTest.bus.dead(queue);
        return dead.length === count && dead;
      });
    },
  };
}

/** The sorted ids of events. */
export function toIds(events: readonly Envelope[]): string[] {
  return events.map(({ id }) => id).sort();
}

/** Creates an event. */
export function createEnvelope(type: string, data: unknown = { name: 'x' }): Envelope {
  return {
    id: newId(),
    type,
    occurred_at: new Date().toISOString(),
    organization_id: newId(),
    actor_id: newId(),
    data,
  };
}

/**
 * Publishes an event; resolves with 'accepted' or the error. Callers need not wait: one bus accepts an event
 * when it is handled, another when it is stored.
 */
export function publish(bus: Bus, event: Envelope): Promise<unknown> {
  return bus.publish(event).then(
    () => 'accepted',
    (error: unknown) => error,
  );
}

/** A promise, `opened`, that a test resolves with `open`. */
export function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Whether a promise is settled after one more turn of the event loop. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const next = new Promise<false>((resolve) => setImmediate(resolve, false));
  return Promise.race([promise.then(() => true), next]);
}
