/** The stage for tests of a bus: for each test a bus with two queues of its own, and what tests do with it. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach } from '@jest/globals';
import { type Envelope, newId } from '#libs/contract';
import type { Bus, Retries, Topology } from '#libs/events';
import { until } from './until.ts';

/** A bus under test and what it runs over. */
export interface BusUnderTest {
  bus: Bus;
  /** Another bus over the same broker, after the first was closed: it finds what that one left. */
  reopen(): Promise<Bus>;
  /** Puts bytes into a queue that are no event, where the broker lets anybody do that. */
  inject?(queue: string, bytes: Uint8Array): Promise<void>;
  /** Closes everything and removes the queues. */
  end(): Promise<void>;
}

/** Opens a bus whose handlers are tried again after the pauses given; queues and types are new ones for each test. */
export type OpenBus = (options: { topology: Topology; retries: Retries }) => Promise<BusUnderTest>;

/** Five tries within a blink. */
export const quickRetries: Retries = [15, 30, 30, 30];
/** A second try that no test waits for. */
export const noRetryInTime: Retries = [600_000];

/** What a test finds on the stage. */
export interface BusFixture {
  readonly underTest: BusUnderTest;
  readonly bus: Bus;
  /** A queue that wants both types. */
  readonly alpha: string;
  /** A queue that wants only what was made. */
  readonly beta: string;
  readonly made: string;
  readonly gone: string;
  /** Starts anew, with other pauses between tries. */
  restart(retries: Retries): Promise<void>;
  /** Handles everything in a queue and remembers it. */
  collect(queue: string, over?: Bus): Promise<Envelope[]>;
  /** The events set aside in a queue, once there are that many. */
  waitForDead(queue: string, count: number): Promise<Envelope[]>;
}

/** Sets the stage before each test of a suite, and clears it afterwards. */
export function busFixture(open: OpenBus): BusFixture {
  let now: Pick<BusFixture, 'underTest' | 'alpha' | 'beta' | 'made' | 'gone'> | undefined;
  const current = () => {
    if (!now) throw new Error('The stage is set before each test');
    return now;
  };
  const start = async (retries: Retries) => {
    const unique = randomBytes(4).toString('hex');
    const names = {
      alpha: `alpha-${unique}`,
      beta: `beta-${unique}`,
      made: `thing-${unique}.made`,
      gone: `thing-${unique}.gone`,
    };
    const topology = new Map([
      [names.alpha, [names.made, names.gone]],
      [names.beta, [names.made]],
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
    get made() {
      return current().made;
    },
    get gone() {
      return current().gone;
    },
    async restart(retries) {
      await current().underTest.end();
      await start(retries);
    },
    async collect(queue, over = current().underTest.bus) {
      const heard: Envelope[] = [];
      await over.consume(queue, async (one) => void heard.push(one), { prefetch: 8 });
      return heard;
    },
    waitForDead(queue, count) {
      return until(`${count} dead in ${queue}`, async () => {
        const dead = await current().underTest.bus.dead(queue);
        return dead.length === count && dead;
      });
    },
  };
}

/** The ids of events, in order. */
export function toIds(events: readonly Envelope[]): string[] {
  return events.map(({ id }) => id).sort();
}

/** A new event. */
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

/** Publishes without waiting: one bus takes an event when it is handled, another when it is stored. */
export function publish(bus: Bus, one: Envelope): Promise<unknown> {
  return bus.publish(one).then(
    () => 'taken',
    (error: unknown) => error,
  );
}

/** Something that a test opens when it wants work to go on. */
export function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Whether a promise is settled, a round of the event loop later. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const next = new Promise<false>((resolve) => setImmediate(resolve, false));
  return Promise.race([promise.then(() => true), next]);
}
