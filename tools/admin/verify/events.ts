/** Invariants of events: each has its change, each change has its event, and every consumer has handled it. */
import type { EventType } from '#libs/contract';
import { inboxCollection, outboxCollection } from '#libs/store';
import {
  DocumentArchived,
  DocumentDeleted,
  DocumentPublished,
  DocumentRevised,
} from '../../../services/documents/events.ts';
import { documents } from '../../../services/documents/store/collections.ts';
import { MemberInvited, MemberJoined, MemberRemoved } from '../../../services/identity/events.ts';
import {
  invitations,
  members,
  organizations,
  subscriptions,
} from '../../../services/identity/store/collections.ts';
import { WebhookDisabled, WebhookExhausted } from '../../../services/webhook-delivery/events.ts';
import { webhookConfigs, webhookDeliveries } from '../../../services/webhook-delivery/store/collections.ts';
import { type Invariant, joinById, rowInvariant, withoutMatch } from './invariant.ts';
import {
  getRetainedSince,
  isNotRefired,
  type Outbox,
  outboxes,
  setMemberId,
  setOrganization,
  setSubject,
} from './outbox.ts';
import type { Stage } from './scan.ts';

const isDate = { $type: 'date' };
const documentsOutbox = outboxCollection('documents');
const identityOutbox = outboxCollection('identity');

/** A webhook that was changed shortly before an event may or may not get it, ms. */
const raceMs = 10_000;

/** The invariants of every outbox. */
const outboxInvariants = ({ name, publishes }: Outbox): Invariant[] => {
  const collection = { name };
  const subscribable = publishes.filter((event) => event.subscribable).map((event) => event.name);
  return [
    rowInvariant({
      ...{ collection, field: 'event' },
      description: 'An event has the id and the type of its row, and belongs to an organization.',
      stages: [
        { $set: { beginning: { $concat: ['{"id":"', '$_id', '","type":"', '$type', '",'] } } },
        setOrganization,
        ...joinById(organizations, 'organization_id', ['_id']),
        {
          $match: {
            $or: [
              { $expr: { $ne: [{ $indexOfCP: ['$event', '$beginning'] }, 0] } },
              { found: { $exists: false } },
            ],
          },
        },
      ],
    }),
    {
      ...rowInvariant({
        ...{ collection, field: 'pending' },
        description: 'An event is published.',
        stages: ({ settledBefore }) => [{ $match: { pending: true, created_at: { $lt: settledBefore } } }],
      }),
      isEventual: true,
    },
    ...(subscribable.length > 0 ? [createDeliveryInvariant(collection, subscribable)] : []),
  ];
};

/** Only plans that have never changed are checked: nothing stores when an organization got its plan. */
function createDeliveryInvariant(collection: { name: string }, types: readonly string[]): Invariant {
  const wasSubscribed = {
    $and: [
      { $in: ['$$type', '$event_types'] },
      { $lt: ['$updated_at', { $subtract: ['$$created_at', raceMs] }] },
    ],
  };
  const invariant = rowInvariant({
    ...{ collection, field: 'deliveries' },
    description:
      'An event has a delivery to each webhook that subscribed to it, if the plan has never changed.',
    stages: ({ settledBefore }) => [
      { $match: { type: { $in: types }, published_at: { $lt: settledBefore } } },
      setOrganization,
      ...joinById(subscriptions, 'organization_id', ['plan', 'terms_version']),
      { $match: { 'found.plan': 'scale', 'found.terms_version': 1 } },
      {
        $lookup: {
          from: webhookConfigs.name,
          ...{ localField: 'organization_id', foreignField: 'organization_id', as: 'webhook' },
          let: { type: '$type', created_at: '$created_at' },
          pipeline: [{ $match: { is_active: true, $expr: wasSubscribed } }, { $project: { _id: 1 } }],
        },
      },
      { $unwind: '$webhook' },
      {
        $lookup: {
          from: webhookDeliveries.name,
          ...{ localField: '_id', foreignField: 'event_id', as: 'delivery' },
          let: { webhook: '$webhook._id' },
          pipeline: [
            { $match: { is_first: true, $expr: { $eq: ['$config_id', '$$webhook'] } } },
            { $project: { _id: 1 } },
          ],
        },
      },
      { $match: { delivery: [] } },
    ],
  });
  return { ...invariant, isEventual: true };
}

/** Declares that each change of the last days has its event. */
function changeInvariant({
  collection,
  field,
  description,
  stages = [],
  outbox,
  events,
  setId = [setSubject],
  mayRepeat = false,
}: {
  collection: { name: string };
  /** The time of the change. */
  field: string;
  description: string;
  stages?: readonly Stage[];
  outbox: { name: string };
  events: readonly EventType[];
  /** The stages that set `subject` to the id of the changed row. */
  setId?: readonly Stage[];
  /** Whether several events may be about the same row. */
  mayRepeat?: boolean;
}): Invariant {
  const ofEvents = [
    { $match: { type: { $in: events.map(({ name }) => name) }, ...isNotRefired } },
    ...setId,
    { $project: { _id: 0, subject: 1, event: { $literal: 1 } } },
  ];
  return {
    name: `${collection.name}.${field}`,
    description,
    find: (scan) =>
      scan.findIdsInOneQuery(collection.name, [
        { $match: { [field]: { $gt: getRetainedSince(scan) } } },
        ...stages,
        { $project: { _id: 0, subject: '$_id', change: { $literal: 1 } } },
        { $unionWith: { coll: outbox.name, pipeline: ofEvents } },
        { $group: { _id: '$subject', changes: { $sum: '$change' }, events: { $sum: '$event' } } },
        {
          $match: {
            changes: { $gt: 0 },
            ...(mayRepeat ? { events: 0 } : { $expr: { $ne: ['$events', '$changes'] } }),
          },
        },
      ]),
  };
}

/** Declares that a service has recorded the events that it always records. */
function inboxInvariant(service: string, events: readonly EventType[]): Invariant {
  const inbox = inboxCollection(service);
  return {
    name: `${inbox.name}._id`,
    description: `${service} has handled each published ${events.map(({ name }) => name).join(' and ')}.`,
    isEventual: true,
    async *find(scan) {
      // a service that has never run handles nothing
      if (!(await scan.hasCollection(inbox.name))) return;
      const published = {
        type: { $in: events.map(({ name }) => name) },
        published_at: { $lt: scan.settledBefore },
        created_at: { $gt: getRetainedSince(scan) },
      };
      for (const { name, publishes } of outboxes)
        if (publishes.some((event) => events.includes(event)))
          yield* scan.findIds(name, [
            { $match: published },
            ...withoutMatch({ field: '_id', target: inbox }),
          ]);
    },
  };
}

/** The stages that leave over events which no later event of this type explains. */
const withoutLater = (event: EventType): Stage[] => [
  {
    $lookup: {
      from: identityOutbox.name,
      let: { id: '$_id', member_id: '$subject' },
      pipeline: [
        { $match: { type: event.name, $expr: { $gt: ['$_id', '$$id'] } } },
        ...setMemberId,
        { $match: { $expr: { $eq: ['$subject', '$$member_id'] } } },
      ],
      as: 'later',
    },
  },
  { $match: { later: [] } },
];

/** The invariants of the outboxes and inboxes, and of the changes that publish an event. */
export const eventInvariants: readonly Invariant[] = [
  ...outboxes.flatMap(outboxInvariants),
  rowInvariant({
    ...{ collection: documentsOutbox, field: 'documents' },
    description: 'A document is published, archived or deleted if an event says so.',
    stages: [
      {
        $match: {
          type: { $in: [DocumentPublished, DocumentRevised, DocumentArchived, DocumentDeleted].map(getName) },
          ...isNotRefired,
        },
      },
      setSubject,
      ...joinById(documents, 'subject', ['parent_doc_id', 'published_at', 'archived_at']),
      {
        $match: {
          $nor: [
            { type: DocumentPublished.name, 'found.published_at': isDate, 'found.parent_doc_id': null },
            {
              type: DocumentRevised.name,
              'found.published_at': isDate,
              'found.parent_doc_id': { $ne: null },
            },
            { type: DocumentArchived.name, 'found.archived_at': isDate },
            { type: DocumentDeleted.name, found: { $exists: false } },
          ],
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: identityOutbox, field: 'joined' },
    description: 'A person who joined is a member, unless they were removed later.',
    stages: [
      { $match: { type: MemberJoined.name } },
      ...setMemberId,
      ...joinById(members, 'subject', ['_id']),
      { $match: { found: { $exists: false } } },
      ...withoutLater(MemberRemoved),
    ],
  }),
  rowInvariant({
    ...{ collection: identityOutbox, field: 'removed' },
    description: 'A person who was removed is not a member, unless they joined again later.',
    stages: [
      { $match: { type: MemberRemoved.name } },
      ...setMemberId,
      ...joinById(members, 'subject', ['_id']),
      { $match: { found: { $exists: true } } },
      ...withoutLater(MemberJoined),
    ],
  }),
  changeInvariant({
    ...{ collection: documents, field: 'published_at' },
    description: 'Each publish of the last days has one event.',
    ...{ outbox: documentsOutbox, events: [DocumentPublished, DocumentRevised] },
  }),
  changeInvariant({
    ...{ collection: documents, field: 'archived_at' },
    description: 'Each archiving of the last days has one event, unless a revision replaced the document.',
    stages: [
      {
        $lookup: {
          ...{ from: documents.name, as: 'successor' },
          let: { organization_id: '$organization_id', family_id: '$family_id', archived_at: '$archived_at' },
          pipeline: [
            {
              $match: {
                $expr: {
                  $and: [
                    { $eq: ['$organization_id', '$$organization_id'] },
                    { $eq: ['$family_id', '$$family_id'] },
                    { $eq: ['$published_at', '$$archived_at'] },
                  ],
                },
              },
            },
          ],
        },
      },
      { $match: { successor: [] } },
    ],
    ...{ outbox: documentsOutbox, events: [DocumentArchived] },
  }),
  changeInvariant({
    ...{ collection: members, field: 'joined_at' },
    description: 'Each member who joined in the last days has an event, except the first of an organization.',
    stages: [
      ...joinById(organizations, 'organization_id', ['created_at']),
      { $match: { $expr: { $ne: ['$found.created_at', '$joined_at'] } } },
    ],
    ...{ outbox: identityOutbox, events: [MemberJoined], setId: setMemberId, mayRepeat: true },
  }),
  changeInvariant({
    ...{ collection: invitations, field: 'created_at' },
    description: 'Each open invitation of the last days has one event.',
    ...{ outbox: identityOutbox, events: [MemberInvited] },
  }),
  inboxInvariant('documents', [MemberRemoved]),
  inboxInvariant('sharing', [DocumentArchived]),
  inboxInvariant('identity', [WebhookExhausted, WebhookDisabled]),
];

function getName({ name }: EventType): string {
  return name;
}
