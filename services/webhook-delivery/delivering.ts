/** Delivering: takes due deliveries in hand, sends them, records how it went. */
import { newId } from '#libs/contract';
import { every, type Worker } from '#libs/service';
import { retryAfterMs, type Verdict, verdictOn } from './rules/backoff.ts';
import { headersOf } from './rules/message.ts';
import { chosen, halves, perEndpoint, perProcess } from './rules/slots.ts';
import type { Sender } from './sending.ts';
import type { Configs, Receiver } from './store/configs.ts';
import type { Claimed, Queue } from './store/queue.ts';

const pollMs = 250;
const sweepMs = 15_000;
const batch = 200;

/** What delivering needs. */
export interface Delivering {
  queue: Queue;
  configs: Pick<Configs, 'receivers' | 'switchOff'>;
  sender: Sender;
  /** The pauses after the first and the second attempt. */
  delaysMs: readonly number[];
  now: () => Date;
  /** In [0, 1). */
  random: () => number;
  trouble(what: string, error: unknown): void;
}

/** The worker, and a bell that says that something may be due; without it the worker looks every 250 ms. */
export function delivering(of: Delivering): Worker & { ring(): void } {
  const { queue, configs, sender } = of;
  const inHand = new Set<Promise<void>>();
  const busy = new Map<string, number>();
  let rung = false;
  let stopped = true;
  let turning: Promise<void> | undefined;

  const troubled = (error: unknown) => of.trouble('Due deliveries could not be taken up', error);
  const poll = every(pollMs, look, troubled);
  const sweep = every(sweepMs, queue.sweep, (error) => of.trouble('Deliveries could not be swept', error));

  return {
    ring,
    start() {
      stopped = false;
      sweep.start();
      poll.start();
    },
    async stop() {
      stopped = true;
      await Promise.all([poll.stop(), sweep.stop()]);
      await turning;
      await Promise.all(inHand);
      await sender.close();
    },
  };

  function ring(): void {
    if (stopped) return;
    rung = true;
    turning ??= takeTurns()
      .catch(troubled)
      .finally(() => {
        turning = undefined;
      });
  }

  async function look(): Promise<void> {
    ring();
    await turning;
  }

  async function takeTurns(): Promise<void> {
    while (rung && !stopped) {
      rung = false;
      for (const shards of halves(of.random())) await takeUp(shards);
    }
  }

  /** Takes up what is due in some shards, as far as there are free slots. */
  async function takeUp(shards: readonly number[]): Promise<void> {
    for (let more = true; more && !stopped; ) {
      const without = [...busy].filter(([, count]) => count >= perEndpoint).map(([id]) => id);
      const candidates = await queue.due({ shards, without, limit: batch });
      const ids = chosen(candidates, busy, perProcess - inHand.size);
      if (ids.length === 0) return;
      const launched = await launch(await queue.claim(ids, newId()));
      more = launched > 0 && candidates.length === batch;
    }
  }

  async function launch(claimed: readonly Claimed[]): Promise<number> {
    try {
      const receivers = await configs.receivers(claimed.map((row) => row.config_id));
      const bodies = await queue.bodies(claimed.map((row) => row.event_id));
      for (const row of claimed) hold(row, receivers.get(row.config_id), bodies.get(row.event_id));
      return claimed.length;
    } catch (error) {
      await queue.giveBack(claimed);
      throw error;
    }
  }

  /** Has a row in hand, in a slot of its endpoint, until it is recorded or given back. */
  function hold(row: Claimed, receiver: Receiver | undefined, body: string | undefined): void {
    const { config_id } = row;
    busy.set(config_id, (busy.get(config_id) ?? 0) + 1);
    const work = attempt(row, receiver, body)
      // the lock runs out and the sweep frees the row
      .catch((error) => of.trouble(`Delivery ${row._id} could not be recorded`, error))
      .finally(() => {
        const others = (busy.get(config_id) ?? 1) - 1;
        const mayWait = others + 1 >= perEndpoint || inHand.size >= perProcess;
        if (others > 0) busy.set(config_id, others);
        else busy.delete(config_id);
        inHand.delete(work);
        if (mayWait) ring();
      });
    inHand.add(work);
  }

  async function attempt(row: Claimed, receiver: Receiver | undefined, body: string | undefined) {
    const error = hindrance(receiver, body);
    if (!receiver || body === undefined || error !== undefined) {
      const verdict: Verdict = { status: 'failed' };
      return queue.finish(row, { verdict, http_status: null, duration_ms: null, error: error ?? null });
    }
    if (stopped) return queue.giveBack([row]);
    if (!(await queue.count(row))) return;
    const number = row.attempts + 1;
    const { retry_after, ...seen } = await sender.send({
      url: receiver.url,
      headers: headersOf({
        eventId: row.event_id,
        eventType: row.event_type,
        deliveryId: row._id,
        attempt: number,
        body,
        secrets: receiver.secrets,
        at: of.now(),
      }),
      body,
    });
    const waitMs = retryAfterMs(retry_after, of.now().getTime());
    const tried = { number, httpStatus: seen.http_status, retryAfterMs: waitMs };
    const verdict = verdictOn(tried, of.delaysMs, of.random());
    // first: whoever dies in between leaves a webhook that is off
    if (seen.http_status === 410) await configs.switchOff(row.organization_id, row.config_id);
    await queue.finish(row, { verdict, ...seen });
  }
}

/** Why a delivery cannot be sent at all, as a stable word; nothing when it can. */
function hindrance(receiver: Receiver | undefined, body: string | undefined): string | undefined {
  if (!receiver) return 'webhook_deleted';
  if (!receiver.isActive) return 'webhook_inactive';
  if (receiver.secrets.length === 0) return 'secret_unreadable';
  return body === undefined ? 'event_expired' : undefined;
}
