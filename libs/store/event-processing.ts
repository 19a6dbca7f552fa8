/** Handles consumed events once: the effect of an event and its id in the inbox are committed together. */
import type mongoose from 'mongoose';
import type { Envelope } from '#libs/contract';
import type { HandleTogether } from '#libs/events';
import { isDuplicate } from './error-codes.ts';
import type { InboxRow } from './inbox.ts';
import { collectEvents, type EventSource } from './outbox.ts';
import type { Actor, Transaction } from './transaction.ts';

type Work = (tx: Transaction) => Promise<void>;

/** The ways to handle an event once; see `Store`. */
export interface EventProcessing {
  processOnce(event: Envelope, work: Work): Promise<boolean>;
  processInTurn(event: Envelope, work: Work): Promise<boolean>;
  processTogether: HandleTogether;
}

/** What handling events needs. */
export interface EventProcessingDeps {
  inbox: mongoose.mongo.Collection<InboxRow>;
  transact<R>(actor: Actor, work: (tx: Transaction) => Promise<R>): Promise<R>;
  now: () => Date;
  eventSource: EventSource;
}

/** An event that waits for its turn, and the caller that waits for it. */
interface Turn {
  event: Envelope;
  work: Work;
  /** Called with whether this turn had the effect. */
  resolve(isFirst: boolean): void;
  reject(error: unknown): void;
}

/** How many events share a transaction at most. */
const maxTurns = 100;

/** The transaction that the subscribers of an event share. A symbol, so that it is in no copy as JSON. */
const sharedTransaction = Symbol('sharedTransaction');
type SharedEvent = Envelope & { [sharedTransaction]?: Transaction };

/** Creates the functions that handle events once. */
export function processEvents({ inbox, transact, now, eventSource }: EventProcessingDeps): EventProcessing {
  /** The turns of each organization, while a transaction of it runs. */
  const waiting = new Map<string, Turn[]>();

  const processOnce: EventProcessing['processOnce'] = async (event, work) => {
    const { [sharedTransaction]: shared }: SharedEvent = event;
    if (!shared) return processAlone(event, work);
    await work(shared);
    return true;
  };

  const processInTurn: EventProcessing['processInTurn'] = (event, work) => {
    const { [sharedTransaction]: shared }: SharedEvent = event;
    if (shared) return processOnce(event, work);
    return new Promise((resolve, reject) => {
      const turn = { event, work, resolve, reject };
      const turns = waiting.get(event.organization_id);
      if (turns) turns.push(turn);
      else void takeTurns(event.organization_id, [turn]);
    });
  };

  return {
    processOnce,
    processInTurn,
    processTogether: (event, handlers) =>
      processInTurn(event, async (tx) => {
        const shared: SharedEvent = { ...event, [sharedTransaction]: tx };
        for (const handle of handlers) await handle(shared);
      }),
  };

  async function processAlone(event: Envelope, work: Work): Promise<boolean> {
    try {
      await transact(toActor(event), async (tx) => {
        await inbox.insertOne({ _id: event.id, handled_at: now() }, { session: tx.session });
        await work(tx);
      });
      return true;
    } catch (error) {
      if (!isDuplicate(error) || !(await inbox.findOne({ _id: event.id }))) throw error;
      return false;
    }
  }

  /** Runs the turns of an organization until none is left; never rejects. */
  async function takeTurns(organizationId: string, turns: Turn[]): Promise<void> {
    waiting.set(organizationId, turns);
    while (turns.length > 0) await settle(turns.splice(0, maxTurns));
    waiting.delete(organizationId);
  }

  /** Runs turns in one transaction. If it fails, each of them runs alone, so that one cannot stop the others. */
  async function settle(turns: readonly Turn[]): Promise<void> {
    const results = turns.length > 1 ? await processBatch(turns).catch(() => undefined) : undefined;
    for (const [at, turn] of turns.entries()) {
      if (results) turn.resolve(results[at] ?? false);
      else await processAlone(turn.event, turn.work).then(turn.resolve, turn.reject);
    }
  }

  /** Returns for each turn whether it had the effect. */
  async function processBatch(turns: readonly Turn[]): Promise<boolean[]> {
    const [first] = turns;
    if (!first) return [];
    return transact(toActor(first.event), async (tx) => {
      const { session } = tx;
      const ids = turns.map(({ event }) => event.id);
      const handled = new Set(
        (await inbox.find({ _id: { $in: ids } }, { session, projection: { _id: 1 } }).toArray()).map(
          ({ _id }) => _id,
        ),
      );
      const results: boolean[] = [];
      for (const { event, work } of turns) {
        const isFirst = !handled.has(event.id);
        results.push(isFirst);
        if (!isFirst) continue;
        handled.add(event.id);
        await inbox.insertOne({ _id: event.id, handled_at: now() }, { session });
        // the events of each turn have its own actor
        const own = collectEvents(toActor(event), session, eventSource);
        await work(own);
        tx.pendingEvents.push(...own.pendingEvents);
      }
      return results;
    });
  }
}

function toActor({ organization_id, actor_id }: Envelope): Actor {
  return { organization_id, user_id: actor_id };
}
