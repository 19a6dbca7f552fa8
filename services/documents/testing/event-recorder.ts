/** Provides a service that records events, for tests of events that no other service consumes. */
import { z } from 'zod';
import { contract, type Envelope, type EventType } from '#libs/contract';
import { on } from '#libs/events';
import { type AnyService, service } from '#libs/service';

/** The service, and the events that it has received, oldest first. */
export interface EventRecorder {
  service: AnyService;
  events: Envelope[];
}

/** Creates the service. Start it in a test app that also knows its contract. */
export function eventRecorder(type: EventType): EventRecorder {
  const events: Envelope[] = [];
  return {
    events,
    service: service({
      contract: contract({
        name: 'event-recorder',
        title: 'Event recorder',
        description: 'Records events.',
        operations: [],
        publishes: [],
        consumes: [type],
        owns: [],
        views: [],
        reads: [],
      }),
      settings: z.object({}),
      collections: [],
      start: () => ({
        authenticate: async () => undefined,
        routes: [],
        subscribers: [on(type, async (event) => events.push(event))],
      }),
    }),
  };
}
