/** Finds the listeners that get an event, without a query per event. */
import type { Envelope } from '#libs/contract';
import type { Listeners, LiveListener } from '../store/listeners.ts';
import { maxClockSkewMs } from '../store/receivers.ts';

/**
 * The listeners of all organizations are read at most this often, and only while events arrive, ms. A new listener is
 * known to every process after this time.
 */
export const maxListAgeMs = 250;

/** How much earlier the list is read again, because a timer of whole milliseconds may end early. */
const timerErrorMs = 10;

/** Finds listeners. */
export interface LiveListeners {
  /** Returns the ids of the listeners that get an event: those that started before it. */
  find(event: Pick<Envelope, 'organization_id' | 'occurred_at'>): Promise<string[]>;
}

/** Creates the search for listeners. */
export function createLiveListeners(listeners: Pick<Listeners, 'listLive'>): LiveListeners {
  let latest: { readonly startedAt: number; readonly list: Promise<LiveListener[]> } | undefined;

  return {
    async find({ organization_id, occurred_at }) {
      const list = await readList();
      const startedBefore = Date.parse(occurred_at) + maxClockSkewMs;
      return list
        .filter((one) => one.organization_id === organization_id && one.created_at.getTime() < startedBefore)
        .map(({ _id }) => _id);
    },
  };

  function readList(): Promise<LiveListener[]> {
    const startedAt = performance.now();
    // the age counts from the start of the query: what was inserted before it is in the list
    if (!latest || startedAt - latest.startedAt > maxListAgeMs - timerErrorMs) {
      const list = listeners.listLive();
      const reading = { startedAt, list };
      latest = reading;
      list.catch(() => {
        if (latest === reading) latest = undefined;
      });
    }
    return latest.list;
  }
}
