/**
 * Checks the invariants of webhook delivery: compares accepted events, received POSTs and the event log, and reports
 * each violation with its event.
 */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type ReceivedRequest, slowness } from '#libs/testing';

/** An event whose change was committed. */
export interface AcceptedEvent {
  id: string;
  /** The webhooks that subscribe to it. */
  webhooks: readonly string[];
}

/** A POST that a receiver got. */
export interface Post extends Omit<ReceivedRequest, 'path'> {
  /** The id of the webhook that it was sent to. */
  webhook: string;
}

/** An entry of the event log. */
export interface LogEntry {
  id: string;
  event_id: string;
  config_id: string;
  status: string;
  attempts: number;
  error: string | null;
}

/** The records that are compared. */
export interface Observations {
  accepted: readonly AcceptedEvent[];
  posts: readonly Post[];
  /** The log that `GET /webhooks/events` returns. */
  entries: readonly LogEntry[];
  /** The log in MongoDB. */
  rows: readonly LogEntry[];
  /** The valid secrets of each webhook. */
  secrets: ReadonlyMap<string, readonly string[]>;
  /** When a process was dead or disconnected, Unix ms: outcomes during that time may be unrecorded. */
  outages: readonly { from: number; until: number }[];
  /** Time limit of a request, ms. A later response does not count. */
  deadlineMs: number;
}

/** Longest time between a response and its record, if no process is killed, ms. */
const recordMs = 2_000 * slowness;
/** Receivers accept timestamps up to this age, ms. */
const freshMs = 5 * 60_000;

/** The violations of I1 to I6, of the signatures and of the log, each with its event. Empty if there are none. */
export function checkInvariants(accounts: Observations): string[] {
  const byDelivery = Map.groupBy(accounts.posts, getDeliveryId);
  return [
    ...findUnfinishedDeliveries(accounts),
    ...findExcessPosts(byDelivery),
    ...findWrongStatuses(accounts, byDelivery),
    ...findUncountedPosts(accounts, byDelivery),
    ...findPhantomEvents(accounts),
    ...findWrongPosts(accounts),
    ...findLogDifferences(accounts),
  ];
}

/** The violations of I4 and of the signatures, which need no log. */
export function findWrongPosts({ posts, secrets }: Pick<Observations, 'posts' | 'secrets'>): string[] {
  return [...findChangedPosts(posts), ...findWrongSignatures({ posts, secrets })];
}

/** I1: every accepted event ends as `delivered` or `failed`. */
function findUnfinishedDeliveries({ accepted, rows }: Observations): string[] {
  const toKey = (event: string, webhook: string) => `${event} ${webhook}`;
  const byKey = Map.groupBy(rows, ({ event_id, config_id }) => toKey(event_id, config_id));
  return accepted.flatMap(({ id, webhooks }) =>
    webhooks.flatMap((webhook) => {
      const found = byKey.get(toKey(id, webhook)) ?? [];
      if (found.length === 0)
        return [`I1: event ${id} was accepted and is not in the log of webhook ${webhook}`];
      return found
        .filter(({ status }) => status !== 'delivered' && status !== 'failed')
        .map(
          (row) =>
            `I1: event ${id}: delivery ${row.id} is still ${row.status} after ${row.attempts} attempts`,
        );
    }),
  );
}

/** I2: each delivery has at most three POSTs. */
function findExcessPosts(byDelivery: ReadonlyMap<string, Post[]>): string[] {
  return [...byDelivery]
    .filter(([, posts]) => posts.length > 3)
    .map(([id, posts]) => `I2: event ${getEventId(posts[0])}: delivery ${id} was sent ${posts.length} times`);
}

/** I3: a delivery is `delivered` only after a 2xx, and a 2xx is recorded unless a process was killed meanwhile. */
function findWrongStatuses(
  { outages, rows, deadlineMs }: Observations,
  byDelivery: ReadonlyMap<string, Post[]>,
): string[] {
  const isOutage = (from: number, until: number) =>
    outages.some((outage) => outage.from <= until && from <= outage.until);
  return rows.flatMap(({ id, event_id, status }) => {
    const posts = byDelivery.get(id) ?? [];
    const served = posts.filter(
      ({ response }) => response && response.status >= 200 && response.status < 300,
    );
    if (status === 'delivered' && served.length === 0)
      return [`I3: event ${event_id}: delivery ${id} is delivered and no 2xx was served`];
    return served.flatMap((post) => {
      const answeredAt = post.response?.at ?? post.at;
      if (answeredAt - post.at > deadlineMs || isOutage(post.at, answeredAt + recordMs)) return [];
      const again = posts.filter(({ at }) => at > answeredAt).length;
      if (status === 'delivered' && again === 0) return [];
      const since = again > 0 ? `was sent ${again} times more` : `is ${status}`;
      return [
        `I3: event ${event_id}: delivery ${id} was answered with 2xx, no process was killed, and it ${since}`,
      ];
    });
  });
}

/** I4: a repeated POST has the same `webhook-id` and the same bytes. */
function findChangedPosts(posts: readonly Post[]): string[] {
  const found: string[] = [];
  const bodies = new Map<string, string>();
  const ids = new Map<string, string>();
  for (const post of posts) {
    const [id, delivery] = [getEventId(post), getDeliveryId(post)];
    if (parseEventId(post.body) !== id)
      found.push(`I4: event ${parseEventId(post.body)} came with webhook-id ${id}`);
    const [body, event] = [bodies.get(id) ?? post.body, ids.get(delivery) ?? id];
    if (body !== post.body) found.push(`I4: event ${id} came with other bytes than before`);
    if (event !== id) found.push(`I4: delivery ${delivery} came for event ${event}, then for event ${id}`);
    bodies.set(id, body);
    ids.set(delivery, event);
  }
  return found;
}

/** I5: the log counts at least as many attempts as receivers got POSTs. */
function findUncountedPosts({ rows }: Observations, byDelivery: ReadonlyMap<string, Post[]>): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return [...byDelivery].flatMap(([id, posts]) => {
    const row = byId.get(id);
    const event = getEventId(posts[0]);
    if (!row) return [`I5: event ${event}: delivery ${id} was sent and is not in the log`];
    if (row.event_id !== event)
      return [`I5: delivery ${id} was sent for ${event}, its entry is for ${row.event_id}`];
    if (row.attempts >= posts.length) return [];
    return [
      `I5: event ${event}: delivery ${id} was sent ${posts.length} times, its log counts ${row.attempts}`,
    ];
  });
}

/** I6: no POST is sent for a change that was rolled back. */
function findPhantomEvents({ accepted, posts }: Observations): string[] {
  const real = new Set(accepted.map(({ id }) => id));
  const sent = new Set(posts.map(getEventId));
  return [...sent].filter((id) => !real.has(id)).map((id) => `I6: event ${id} was sent and does not exist`);
}

/** Both signatures of every POST are valid for its bytes and a secret of its webhook. */
function findWrongSignatures({ posts, secrets }: Pick<Observations, 'posts' | 'secrets'>): string[] {
  return posts.flatMap((post) => {
    const known = secrets.get(post.webhook) ?? [];
    const ours = String(post.headers['x-service-signature']).split(',');
    const isOurs = known.some((secret) => {
      return ours.includes(`sha256=${createHmac('sha256', secret).update(post.body).digest('hex')}`);
    });
    const isStandard = known.some((secret) => isSignedWith(secret, post));
    const event = getEventId(post);
    return [
      ...(isOurs ? [] : [`Signature: event ${event}: X-Service-Signature is not of webhook ${post.webhook}`]),
      ...(isStandard
        ? []
        : [`Signature: event ${event}: webhook-signature is not of webhook ${post.webhook}`]),
    ];
  });
}

/** The API shows the log that MongoDB stores. */
function findLogDifferences({ entries, rows }: Observations): string[] {
  const describe = ({ id, event_id, status, attempts, error }: LogEntry) =>
    `event ${event_id}: delivery ${id} ${status} after ${attempts} attempts (${error})`;
  const [shown, stored] = [new Set(entries.map(describe)), new Set(rows.map(describe))];
  return [
    ...[...stored].filter((one) => !shown.has(one)).map((one) => `Log: stored and not shown: ${one}`),
    ...[...shown].filter((one) => !stored.has(one)).map((one) => `Log: shown and not stored: ${one}`),
  ];
}

/** Whether the Standard Webhooks headers are valid for a secret at the time when the POST was received. */
function isSignedWith(secret: string, { body, headers, at }: Post): boolean {
  const seconds = Number(headers['webhook-timestamp']);
  if (!(Math.abs(seconds * 1000 - at) < freshMs)) return false;
  // the library's `verify` would compare the timestamp with the current time
  const expected = new Webhook(secret).sign(String(headers['webhook-id']), new Date(seconds * 1000), body);
  return String(headers['webhook-signature']).split(' ').includes(expected);
}

function getDeliveryId({ headers }: Post): string {
  return String(headers['x-service-delivery']);
}

function getEventId(post: Post | undefined): string {
  return String(post?.headers['webhook-id']);
}

function parseEventId(body: string): unknown {
  return JSON.parse(body).id;
}
