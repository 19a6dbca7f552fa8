/** Invariants of webhooks, of the events that they got and of the deliveries. */
import { organizations, users } from '../../../services/identity/store/collections.ts';
import { maxAttempts } from '../../../services/webhook-delivery/rules/backoff.ts';
import {
  webhookConfigs,
  webhookDeliveries,
  webhookEvents,
  webhookListenerEvents,
  webhookListeners,
} from '../../../services/webhook-delivery/store/collections.ts';
import { type Invariant, joinById, reference, rowInvariant, withoutMatch } from './invariant.ts';
import { getRetainedSince, outboxes } from './outbox.ts';
import type { Scan } from './scan.ts';

const absent = { $exists: false };
const present = { $exists: true };

/** The time after which an event and its deliveries are in the log: they are deleted after 90 days, one by one. */
const getLoggedSince = ({ now }: Pick<Scan, 'now'>) => new Date(now.getTime() - 89 * 86_400_000);

/** The conditions of deliveries in each state: due, leased by a process, or at their end. */
const states = [
  { status: 'pending', due_at: present, lock_token: absent, locked_until: absent },
  { status: 'pending', due_at: absent, lock_token: present, locked_until: present },
  { status: { $in: ['delivered', 'failed'] }, due_at: absent, lock_token: absent, locked_until: absent },
];

const isOverdue = ({ settledBefore }: Pick<Scan, 'settledBefore'>) => ({
  status: 'pending',
  $or: [{ due_at: { $lt: settledBefore } }, { locked_until: { $lt: settledBefore } }],
});

/** The invariants of the collections of webhook delivery. */
export const webhookInvariants: readonly Invariant[] = [
  reference({
    ...{ collection: webhookConfigs, field: 'organization_id', target: organizations },
    description: 'A webhook belongs to an organization.',
  }),
  reference({
    ...{ collection: webhookConfigs, field: 'created_by', target: users },
    description: 'A webhook was created by a user.',
  }),
  rowInvariant({
    ...{ collection: webhookConfigs, field: 'secrets' },
    description: 'The newest secret of a webhook does not expire, and all older ones do.',
    stages: [
      {
        $match: {
          $expr: {
            $ne: [
              { $map: { input: '$secrets', as: 'one', in: { $eq: ['$$one.until', null] } } },
              {
                $map: {
                  input: { $range: [0, { $max: [1, { $size: '$secrets' }] }] },
                  as: 'position',
                  in: { $eq: ['$$position', 0] },
                },
              },
            ],
          },
        },
      },
    ],
  }),
  reference({
    ...{ collection: webhookEvents, field: 'organization_id', target: organizations },
    description: 'An event for webhooks belongs to an organization.',
  }),
  rowInvariant({
    ...{ collection: webhookEvents, field: 'occurred_at' },
    description: 'An event for webhooks is an event that a service has published.',
    stages: (scan) => [
      // the events of tests have no time
      { $match: { occurred_at: { $gt: getRetainedSince(scan) } } },
      ...outboxes.flatMap(({ name }) => withoutMatch({ field: '_id', target: { name } })),
    ],
  }),
  {
    ...rowInvariant({
      ...{ collection: webhookEvents, field: 'recipient_ids' },
      description: 'Each recipient of an event has a delivery.',
      stages: (scan) => [
        { $match: { created_at: { $gt: getLoggedSince(scan), $lt: scan.settledBefore } } },
        {
          $lookup: {
            ...{ from: webhookDeliveries.name, localField: '_id', foreignField: 'event_id', as: 'found' },
            pipeline: [{ $match: { is_first: true } }, { $project: { config_id: 1 } }],
          },
        },
        { $set: { missing: { $setDifference: [{ $ifNull: ['$recipient_ids', []] }, '$found.config_id'] } } },
        { $match: { missing: { $ne: [] } } },
      ],
    }),
    isEventual: true,
  },
  reference({
    ...{ collection: webhookDeliveries, field: 'organization_id', target: organizations },
    description: 'A delivery belongs to an organization.',
  }),
  rowInvariant({
    ...{ collection: webhookDeliveries, field: 'event_id' },
    description: 'The first delivery of an event has the payload of the event.',
    stages: (scan) => [
      { $match: { is_first: true, created_at: { $gt: getLoggedSince(scan) } } },
      ...withoutMatch({ field: 'event_id', target: webhookEvents, inOrganization: true }),
    ],
  }),
  {
    ...rowInvariant({
      ...{ collection: webhookDeliveries, field: 'config_id' },
      description: 'A delivery whose webhook was deleted is not pending.',
      stages: (scan) => [
        { $match: isOverdue(scan) },
        ...withoutMatch({ field: 'config_id', target: webhookConfigs, inOrganization: true }),
      ],
    }),
    isEventual: true,
  },
  rowInvariant({
    ...{ collection: webhookDeliveries, field: 'status' },
    description: 'A pending delivery is due or leased, and a finished one is neither.',
    stages: [{ $match: { $nor: states } }],
  }),
  rowInvariant({
    ...{ collection: webhookDeliveries, field: 'attempts' },
    description: `A delivery has at most ${maxAttempts} attempts, and a delivered one at least one.`,
    stages: [
      {
        $match: {
          $nor: [
            { status: 'delivered', attempts: { $gte: 1, $lte: maxAttempts } },
            { status: { $ne: 'delivered' }, attempts: { $gte: 0, $lte: maxAttempts } },
          ],
        },
      },
    ],
  }),
  {
    ...rowInvariant({
      ...{ collection: webhookDeliveries, field: 'due_at' },
      description: 'A delivery is attempted when it is due, and released when its lease ends.',
      stages: (scan) => [{ $match: isOverdue(scan) }],
    }),
    isEventual: true,
  },
  reference({
    ...{ collection: webhookListeners, field: 'organization_id', target: organizations },
    description: 'A listener belongs to an organization.',
  }),
  reference({
    ...{ collection: webhookListeners, field: 'user_id', target: users },
    description: 'A listener was started by a user.',
  }),
  rowInvariant({
    ...{ collection: webhookListenerEvents, field: 'listener_id' },
    description:
      'An event of a listener belongs to the same organization as the listener, if that still exists.',
    stages: [
      ...joinById(webhookListeners, 'listener_id', ['organization_id']),
      {
        $match: {
          'found._id': present,
          $expr: { $ne: ['$organization_id', '$found.organization_id'] },
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: webhookListenerEvents, field: 'event_id' },
    description: 'An event of a listener is an event that a service has published.',
    stages: outboxes.flatMap(({ name }) => withoutMatch({ field: 'event_id', target: { name } })),
  }),
];
