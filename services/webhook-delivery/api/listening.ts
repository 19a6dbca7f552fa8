/** Handlers of listeners: start and stop to listen, receive events by long polling, confirm them. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { NotFound, Secret } from '#libs/contract';
import { handle } from '#libs/http';
import type { Actor, Store, Transaction } from '#libs/store';
import {
  confirmWebhookEvents,
  createWebhookListener,
  deleteWebhookListener,
  receiveWebhookEvents,
  TooManyListeners,
} from '../contract.ts';
import { maxListAgeMs } from '../listening/live-listeners.ts';
import type { LongPolls } from '../listening/long-polls.ts';
import { listenerLifetimeMs, maxListeners, maxUnconfirmed, touchAfterMs } from '../rules/listeners.ts';
import { formatSecret } from '../rules/signature.ts';
import type { ListenerRow } from '../store/collections.ts';
import type { ListenerEvents } from '../store/listener-events.ts';
import type { Listeners } from '../store/listeners.ts';
import { toListenedEvent } from './presenters.ts';

/** Dependencies of the listener handlers. */
export interface ListeningDeps {
  store: Pick<Store, 'respond' | 'withLock'>;
  listeners: Listeners;
  listenerEvents: ListenerEvents;
  longPolls: Pick<LongPolls, 'wait'>;
  now: () => Date;
}

/** Creates the handlers of the operations on listeners. */
export function listenerHandlers(deps: ListeningDeps) {
  const { store, listeners, listenerEvents, longPolls, now } = deps;
  return [
    handle(createWebhookListener, async ({ actor, call }) => {
      const secret = new Secret(formatSecret(randomBytes(32)));
      const create = async (transactionActor: typeof actor & { tx: Transaction }) => {
        if ((await listeners.count(transactionActor)) >= maxListeners) throw TooManyListeners();
        const row = await listeners.insert(transactionActor, secret);
        call.audit({ listener_id: row._id });
        const { _id, created_at, expires_at } = row;
        const times = { created_at: created_at.toISOString(), expires_at: expires_at.toISOString() };
        return { id: _id, secret: secret.reveal(), ...times };
      };
      const lock = `listeners/${actor.organization_id}`;
      // concurrent requests to several replicas may exceed the limit by one each
      const listener = await store.withLock(lock, () => store.respond(actor, create));
      // until then, a process may not know the listener and skip events
      await pause(maxListAgeMs);
      return listener;
    }),

    handle(receiveWebhookEvents, async ({ actor, params, query: { limit, wait_seconds }, call }) => {
      const listener = await getListener(deps, actor, params.listener_id);
      await touch(deps, actor, listener);
      let found = await listenerEvents.list(listener._id, limit);
      if (found.length === 0 && wait_seconds > 0) {
        const { signal } = call;
        await longPolls.wait({ listenerId: listener._id, ms: wait_seconds * 1000, signal });
        found = await listenerEvents.list(listener._id, limit);
      }
      const [secret, at] = [listeners.openSecret(listener), now()];
      return found.map((row) => toListenedEvent(row, secret, at));
    }),

    handle(confirmWebhookEvents, async ({ actor, params, body: { event_ids } }) => {
      const { _id } = await getListener(deps, actor, params.listener_id);
      return store.respond(actor, async (_, tx) => {
        await listenerEvents.delete(_id, event_ids, tx);
        return undefined;
      });
    }),

    handle(deleteWebhookListener, async ({ actor, params: { listener_id }, call }) => {
      call.audit({ listener_id });
      if (!(await listeners.delete(actor, listener_id))) throw NotFound();
      await listenerEvents.delete(listener_id);
      return undefined;
    }),
  ];
}

async function getListener(
  { listeners }: Pick<ListeningDeps, 'listeners'>,
  actor: Actor & { user_id: string },
  id: string,
): Promise<ListenerRow> {
  const listener = await listeners.find(actor, id);
  if (!listener) throw NotFound();
  return listener;
}

/**
 * Extends the life of a listener, at most every 15 seconds to save writes. Ends it instead and throws `NotFound` if it
 * confirms too few events.
 */
async function touch(
  { listeners, listenerEvents, now }: Pick<ListeningDeps, 'listeners' | 'listenerEvents' | 'now'>,
  actor: Actor & { user_id: string },
  listener: ListenerRow,
): Promise<void> {
  const { _id, expires_at } = listener;
  if (expires_at.getTime() - now().getTime() > listenerLifetimeMs - touchAfterMs) return;
  if ((await listenerEvents.count(_id, maxUnconfirmed + 1)) <= maxUnconfirmed) {
    await listeners.extend(listener);
    return;
  }
  await listeners.delete(actor, _id);
  await listenerEvents.delete(_id);
  throw NotFound();
}
