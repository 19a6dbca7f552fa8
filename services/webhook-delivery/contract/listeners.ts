/** Operations on listeners, which receive the events of an organization without a public address. */
import { z } from 'zod';
import { id, NotFound, nothing, operation, queryInteger } from '#libs/contract';
import { member, onScalePlan, self } from '../../identity/contract.ts';
import { TooManyListeners } from '../problems.ts';
import { maxEventsPerRequest, maxListeners, maxUnconfirmed, maxWaitSeconds } from '../rules/listeners.ts';
import { ListenedEvent, NewWebhookListener } from '../shapes.ts';

const listenerParams = z.object({ listener_id: id });

export const createWebhookListener = operation({
  id: 'createWebhookListener',
  method: 'post',
  path: '/webhooks/listeners',
  summary: 'Start to listen to events',
  description: `Creates a listener for development. It gets the events of all types whose changes follow this response, without a webhook. Only this response contains the secret. The listener ends after 15 minutes without a request for events, or with more than ${maxUnconfirmed} unconfirmed events. An organization has at most ${maxListeners} listeners.`,
  access: onScalePlan(member),
  audit: 'webhook_listener.create',
  status: 201,
  returns: NewWebhookListener,
  secrets: ['secret'],
  problems: [TooManyListeners],
});

export const receiveWebhookEvents = operation({
  id: 'receiveWebhookEvents',
  method: 'get',
  path: '/webhooks/listeners/{listener_id}/events',
  summary: 'Receive the events of a listener',
  description:
    'Returns the events that the listener has not confirmed, oldest first. Process and confirm them, then repeat the request. An event that you do not confirm is returned again. Only one request at a time can wait for events of a listener: a further one ends the wait.',
  access: onScalePlan(self),
  params: listenerParams,
  query: z.object({
    limit: queryInteger(1, maxEventsPerRequest)
      .prefault(maxEventsPerRequest)
      .meta({ description: `Number of events, 1–${maxEventsPerRequest}` }),
    wait_seconds: queryInteger(0, maxWaitSeconds)
      .prefault(0)
      .meta({
        description: `How long the response waits for an event if there is none, 0–${maxWaitSeconds}`,
      }),
  }),
  status: 200,
  returns: z.array(ListenedEvent),
  longPoll: true,
  problems: [NotFound],
});

export const confirmWebhookEvents = operation({
  id: 'confirmWebhookEvents',
  method: 'post',
  path: '/webhooks/listeners/{listener_id}/confirm',
  summary: 'Confirm events of a listener',
  description:
    'Deletes events that you have processed from the listener. Ignores events that it does not have, so you can repeat the request.',
  access: onScalePlan(self),
  params: listenerParams,
  body: z.strictObject({
    event_ids: z
      .array(id)
      .min(1)
      .max(maxEventsPerRequest)
      .meta({ description: 'The `event_id` of each event' }),
  }),
  status: 204,
  returns: nothing,
  problems: [NotFound],
});

export const deleteWebhookListener = operation({
  id: 'deleteWebhookListener',
  method: 'delete',
  path: '/webhooks/listeners/{listener_id}',
  summary: 'Stop listening',
  description: 'Deletes the listener and its events.',
  access: onScalePlan(self),
  audit: 'webhook_listener.delete',
  params: listenerParams,
  status: 204,
  returns: nothing,
  problems: [NotFound],
});
