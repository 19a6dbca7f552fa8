/** Finds events in the outboxes of the services. */
import type { EventType } from '#libs/contract';
import { outboxCollection } from '#libs/store';
import { contracts } from '../../../services/contracts.ts';
import type { Scan, Stage } from './scan.ts';

/** A published event is kept for seven days; changes that are older may have no event any more. */
export const retainedDays = 6;

/** The events that a contract publishes, with the outbox that stores them. */
export interface Outbox {
  name: string;
  publishes: readonly EventType[];
}

/** The outboxes of all services. */
export const outboxes: readonly Outbox[] = contracts.map(({ name, publishes }) => ({
  name: outboxCollection(name).name,
  publishes,
}));

/** The lowest id that an event of this time can have: ids are UUIDs of version 7, which begin with the time in ms. */
export function toFirstId(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The time after which every change still has its event. */
export function getRetainedSince({ now }: Pick<Scan, 'now'>): Date {
  return new Date(now.getTime() - retainedDays * 86_400_000);
}

/** Sets `subject` to the id of the document, member or invitation that an event in an outbox is about. */
export const setSubject: Stage = {
  $set: { subject: capture('"data":\\{"(?:document|member|invitation)":\\{"id":"([^"]+)"') },
};

/** Sets `organization_id` to the organization of an event in an outbox. */
export const setOrganization: Stage = { $set: { organization_id: capture('"organization_id":"([^"]+)"') } };

/** Set `subject` to the id of the membership that an event in an outbox is about. */
export const setMemberId: readonly Stage[] = [
  setSubject,
  setOrganization,
  { $set: { subject: { $concat: ['$organization_id', ':', '$subject'] } } },
];

/** The condition of events that belong to a change, and were not sent again on request. */
export const isNotRefired = { event: { $not: /"refired":true/ } };

/**
 * Leaves out rows that an event explains which was published within the grace period: its consumers may not have
 * handled it yet. The event contains the id `subject`.
 */
export function exceptRecent(
  { settledBefore }: Pick<Scan, 'settledBefore'>,
  { service, event, subject }: { service: string; event: EventType; subject: string },
): Stage[] {
  const isAbout = { $expr: { $gte: [{ $indexOfCP: ['$event', '$$subject'] }, 0] } };
  const lookup = {
    ...{ from: outboxCollection(service).name, let: { subject }, as: 'recent' },
    pipeline: [
      { $match: { _id: { $gte: toFirstId(settledBefore) }, type: event.name, ...isAbout } },
      { $limit: 1 },
      { $project: { _id: 1 } },
    ],
  };
  return [{ $lookup: lookup }, { $match: { recent: [] } }];
}

/** The first group of a regular expression in the JSON of an event. */
function capture(regex: string): Stage {
  const found = { $regexFind: { input: '$event', regex } };
  return { $first: { $getField: { field: 'captures', input: found } } };
}
