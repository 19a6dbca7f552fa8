/**
 * The checker of webhook delivery: what was accepted, what the receivers saw and what the log says are held against one
 * another, and every broken promise is named with its event.
 */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** An event that exists, because its change was committed. */
export interface AcceptedEvent {
  id: string;
  /** The webhooks that subscribe to it. */
  webhooks: readonly string[];
}

/** A POST that a receiver saw. */
export interface Post {
  /** The webhook that it went to. */
  webhook: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  /** When it had come, ms. */
  at: number;
  /** What was answered, and when; nothing while no answer was given. */
  response?: { status: number; at: number };
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

/** All that is compared. */
export interface Observations {
  accepted: readonly AcceptedEvent[];
  posts: readonly Post[];
  /** The log as `GET /webhooks/events` shows it. */
  entries: readonly LogEntry[];
  /** The log as it stands in MongoDB. */
  rows: readonly LogEntry[];
  /** The secrets that a webhook may sign with. */
  secrets: ReadonlyMap<string, readonly string[]>;
  /** From when until when a process that takes part was dead or cut off, ms: what was under way then may be unrecorded. */
  outages: readonly { from: number; until: number }[];
  /** How long a request may take, ms: what is answered later counts as not answered. */
  deadlineMs: number;
}

/** Between an answer and its record at most this much passes while nobody dies, ms. */
const recordMs = 2_000;
/** A receiver takes a timestamp for fresh within this time, ms. */
const freshMs = 5 * 60_000;

/** The promises I1 to I6 that were broken, each with its event; empty when all of them were kept. */
export function checkInvariants(accounts: Observations): string[] {
  const byDelivery = Map.groupBy(accounts.posts, getDeliveryId);
  return [
    ...findUnfinishedDeliveries(accounts),
    ...findExcessPosts(byDelivery),
    ...findWrongStatuses(accounts, byDelivery),
    ...findChangedPosts(accounts.posts),
    ...findUncountedPosts(accounts, byDelivery),
    ...findPhantomEvents(accounts),
    ...findWrongSignatures(accounts),
    ...findLogDifferences(accounts),
  ];
}

/** I1: no accepted event without `delivered` or `failed`. */
function findUnfinishedDeliveries({ accepted, rows }: Observations): string[] {
  const keyOf = (event: string, webhook: string) => `${event} ${webhook}`;
  const byKey = Map.groupBy(rows, ({ event_id, config_id }) => keyOf(event_id, config_id));
  return accepted.flatMap(({ id, webhooks }) =>
    webhooks.flatMap((webhook) => {
      const found = byKey.get(keyOf(id, webhook)) ?? [];
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

/** I2: at most three POSTs for each delivery. */
function findExcessPosts(byDelivery: ReadonlyMap<string, Post[]>): string[] {
  return [...byDelivery]
    .filter(([, posts]) => posts.length > 3)
    .map(([id, posts]) => `I2: event ${getEventId(posts[0])}: delivery ${id} was sent ${posts.length} times`);
}

/** I3: `delivered` means that a 2xx was served; a 2xx that was served is recorded, unless somebody died meanwhile. */
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
      return [`I3: event ${event_id}: delivery ${id} was answered with 2xx, nobody died, and it ${since}`];
    });
  });
}

/** I4: what comes more than once comes under the same webhook-id and with the same bytes. */
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

/** I5: the log counts at least the POSTs that were seen. */
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

/** I6: nothing is sent for a change that was rolled back. */
function findPhantomEvents({ accepted, posts }: Observations): string[] {
  const real = new Set(accepted.map(({ id }) => id));
  const sent = new Set(posts.map(getEventId));
  return [...sent].filter((id) => !real.has(id)).map((id) => `I6: event ${id} was sent and does not exist`);
}

/** Both signatures of every POST are those of a secret of its webhook over the very bytes that came. */
function findWrongSignatures({ posts, secrets }: Observations): string[] {
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

/** The log that the API shows is the one that is kept. */
function findLogDifferences({ entries, rows }: Observations): string[] {
  const describe = ({ id, event_id, status, attempts, error }: LogEntry) =>
    `event ${event_id}: delivery ${id} ${status} after ${attempts} attempts (${error})`;
  const [shown, stored] = [new Set(entries.map(describe)), new Set(rows.map(describe))];
  return [
    ...[...stored].filter((one) => !shown.has(one)).map((one) => `Log: stored and not shown: ${one}`),
    ...[...shown].filter((one) => !stored.has(one)).map((one) => `Log: shown and not stored: ${one}`),
  ];
}

/** Whether a secret makes the trio of Standard Webhooks, for the moment at which the POST came. */
function isSignedWith(secret: string, { body, headers, at }: Post): boolean {
  const seconds = Number(headers['webhook-timestamp']);
  if (!(Math.abs(seconds * 1000 - at) < freshMs)) return false;
  // `verify` of the library would hold the time against the clock of now
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
