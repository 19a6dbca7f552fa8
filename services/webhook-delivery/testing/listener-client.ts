/** A client of the operations on listeners, for tests. */
import { must, type Person, type TestApp, type TestResponse, until } from '#libs/testing';
import { ListenedEvent } from '../contract.ts';

/** A new listener. */
export interface StartedListener {
  id: string;
  secret: string;
  expires_at: string;
}

/** Creates the client. `getPerson` returns the person whose key sends the requests without `as`. */
export function listenerClient(getApp: () => TestApp, getPerson: () => Person) {
  const toPath = (id: string) => `/webhooks/listeners/${id}`;

  return {
    start: (): Promise<StartedListener> =>
      must(getApp(), 'POST', '/webhooks/listeners', { as: getPerson().key }),

    request,

    /** Returns the events that are not confirmed. */
    receive,

    /** Waits until the listener has this many events, and returns them. */
    receiveAll: (id: string, count: number): Promise<ListenedEvent[]> =>
      until(`${count} events`, async () => {
        const events = await receive(id);
        return events.length >= count && events;
      }),

    confirm(id: string, events: readonly ListenedEvent[], as = getPerson().key): Promise<TestResponse> {
      const body = { event_ids: events.map(({ event_id }) => event_id) };
      return getApp().request('POST', `${toPath(id)}/confirm`, { as, body });
    },

    remove: (id: string, as = getPerson().key): Promise<TestResponse> =>
      getApp().request('DELETE', toPath(id), { as }),
  };

  function request(id: string, query = '', as = getPerson().key): Promise<TestResponse> {
    return getApp().request('GET', `${toPath(id)}/events${query}`, { as });
  }

  async function receive(id: string, query = '', as = getPerson().key): Promise<ListenedEvent[]> {
    return ListenedEvent.array().parse((await request(id, query, as)).body);
  }
}
