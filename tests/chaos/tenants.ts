/** Organizations at work while something breaks: what they publish, what their receivers see, and the settling of accounts. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '#libs/testing';
import {
  type ReceivedRequest,
  type Responder,
  webhookReceiver,
} from '../../services/webhook-delivery/testing/receiver.ts';
import { checkInvariants, type LogEntry, type Observations, type Post } from './checker.ts';
import type { System } from './system.ts';

/** A receiver of webhooks that keeps what it sees and answers. */
export interface RecordingReceiver {
  /** The address of a webhook. */
  getUrl(name: string): string;
  /** All POSTs, the first first. */
  posts: Post[];
  /** Decides the answers from now on; without an answerer all of them are 204. */
  respondWith(answering?: Responder): void;
  close(): Promise<void>;
}

/** An organization with an API key and its webhooks. */
export interface TestTenant {
  organizationId: string;
  key: string;
  hooks: { id: string; secret: string; url: string }[];
  /** Documents whose publishing was answered with 200. */
  published: string[];
}

/** Starts a receiver. */
export async function startReceiver(): Promise<RecordingReceiver> {
  const posts: Post[] = [];
  let answering: Responder = () => 204;
  const webhookServer = await webhookReceiver(async (received: ReceivedRequest) => {
    const { path, headers, body } = received;
    const post: Post = { webhook: path.slice(1), headers, body, at: Date.now() };
    posts.push(post);
    const reply = await answering(received);
    post.response = { status: typeof reply === 'number' ? reply : reply.status, at: Date.now() };
    return reply;
  });
  const { origin } = new URL(webhookServer.url);
  return {
    getUrl: (name) => `${origin}/${name}`,
    posts,
    respondWith(by = () => 204) {
      answering = by;
    },
    close: webhookServer.close,
  };
}

/** Opens an organization whose webhooks, one for each address, hear that documents are published. */
export async function createTenant(system: System, urls: readonly string[]): Promise<TestTenant> {
  const unique = randomBytes(6).toString('hex');
  const account = { name: 'Ada', email: `ada-${unique}@example.com`, password: `correct horse ${unique}` };
  const session = await must(system, 201, 'POST', '/auth/register', {
    body: { organization_name: unique, ...account },
  });
  const keyRequest = { as: session.access_token, body: { name: 'Test', role: 'admin' } };
  const { key } = await must(system, 201, 'POST', '/api-keys', keyRequest);
  const tenant: TestTenant = { organizationId: session.organization.id, key, hooks: [], published: [] };
  for (const url of urls) {
    const body = { name: 'Hook', url, event_types: ['document.published'] };
    const { id, secret } = await must(system, 201, 'POST', '/webhooks', { as: key, body });
    tenant.hooks.push({ id, secret, url });
  }
  return tenant;
}

/** Publishes a new document; rejects unless both answers are as they should be. */
export async function publish(system: System, tenant: TestTenant): Promise<void> {
  const as = tenant.key;
  const { id } = await must(system, 201, 'POST', '/documents', { as, body: { title: 'SOP' } });
  await must(system, 200, 'POST', `/documents/${id}/publish`, { as });
  tenant.published.push(id);
}

/** Publishes so many documents a second; `end` ends that, and gives what was not answered as it should be. */
export function startPublishing(
  system: System,
  tenant: TestTenant,
  perSecond: number,
): { stop(): Promise<string[]> } {
  let isOver = false;
  const errors: string[] = [];
  const begun: Promise<unknown>[] = [];
  const beating = (async () => {
    while (!isOver && !system.signal.aborted) {
      begun.push(publish(system, tenant).catch((error: Error) => errors.push(error.message)));
      // the load itself has a pace
      await pause(1_000 / perSecond);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await beating;
      await Promise.all(begun);
      return errors;
    },
  };
}

/** Waits until all that was said is told, or failed for good; what is not by then is found by the checker. */
export async function waitUntilSettled(
  system: System,
  tenants: readonly TestTenant[],
  withinMs: number,
): Promise<void> {
  const isOver = async () => {
    const waiting = ['identity_outbox', 'documents_outbox'].map((name) =>
      system.db.collection(name).countDocuments({ pending: true }),
    );
    if ((await Promise.all(waiting)).some((count) => count > 0)) return false;
    const { accepted, rows } = await readStoredState(system, tenants);
    const expected = accepted.reduce((sum, { webhooks }) => sum + webhooks.length, 0);
    return rows.length >= expected && rows.every(({ status }) => status !== 'pending');
  };
  await until('an end of all deliveries', isOver, withinMs).catch(() => {});
}

/** All broken promises, once everything was settled. */
export async function findViolations(
  system: System,
  tenants: readonly TestTenant[],
  receiver: RecordingReceiver,
  more: Partial<Pick<Observations, 'outages' | 'secrets'>> & { entries?: 'are too many to be shown' } = {},
): Promise<string[]> {
  const { accepted, rows } = await readStoredState(system, tenants);
  const shown = more.entries ? rows : (await Promise.all(tenants.map((one) => readLog(system, one)))).flat();
  const hooks = tenants.flatMap((tenant) => tenant.hooks);
  const byUrl = new Map(hooks.map(({ id, url }) => [new URL(url).pathname.slice(1), id]));
  const posts = receiver.posts.map((post) => ({ ...post, webhook: byUrl.get(post.webhook) ?? post.webhook }));
  // those that were made later sign beside the first
  const secrets = new Map(hooks.map(({ id, secret }) => [id, [secret, ...(more.secrets?.get(id) ?? [])]]));
  const { outages = [] } = more;
  const { deadlineMs } = system;
  const found = checkInvariants({ accepted, posts, rows, entries: shown, secrets, outages, deadlineMs });
  return [...found, ...(await findEventMismatches(system, tenants))];
}

/** The events of these organizations that exist, and the log of them. */
async function readStoredState({ db }: System, tenants: readonly TestTenant[]) {
  const ids = tenants.map(({ organizationId }) => organizationId);
  const hooksOf = new Map(
    tenants.map(({ organizationId, hooks }) => [organizationId, hooks.map(({ id }) => id)]),
  );
  const stored = await db.collection('documents_outbox').find({ type: 'document.published' }).toArray();
  const events = stored.map(({ event }) => JSON.parse(event));
  const accepted = events.flatMap(({ id, organization_id }) => {
    const webhooks = hooksOf.get(organization_id);
    return webhooks ? [{ id: String(id), webhooks }] : [];
  });
  const found = await db
    .collection('webhook_deliveries')
    .find({ organization_id: { $in: ids } })
    .toArray();
  const rows: LogEntry[] = found.map(({ _id, event_id, config_id, status, attempts, error }) => {
    return { id: String(_id), event_id, config_id, status, attempts, error };
  });
  return { accepted, rows };
}

/** Every document that is published has said so once, and every one that was answered with 200 is published. */
async function findEventMismatches({ db }: System, tenants: readonly TestTenant[]): Promise<string[]> {
  const organizationIds = tenants.map(({ organizationId }) => organizationId);
  const documents = await db
    .collection('documents')
    .find({ organization_id: { $in: organizationIds }, status: 'published' })
    .toArray();
  const published = new Set(documents.map(({ _id }) => String(_id)));
  const stored = await db.collection('documents_outbox').find({ type: 'document.published' }).toArray();
  const events = stored
    .map(({ event }) => JSON.parse(event))
    .filter((one) => organizationIds.includes(one.organization_id));
  const about = Map.groupBy(events, ({ data }) => String(data.document.id));
  const answered = tenants.flatMap((tenant) => tenant.published);
  return [
    ...answered
      .filter((id) => !published.has(id))
      .map((id) => `Accepted: document ${id} was answered with 200 and is not published`),
    ...[...about.keys()]
      .filter((id) => !published.has(id))
      .map((id) => `I6: document ${id} was stored to be published and is not`),
    ...[...published]
      .filter((id) => about.get(id)?.length !== 1)
      .map(
        (id) => `Accepted: document ${id} is published and has stored so ${about.get(id)?.length ?? 0} times`,
      ),
  ];
}

/** The whole log of an organization, page by page. */
async function readLog({ request }: System, { key }: TestTenant): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for (let path: string | undefined = '/webhooks/events?limit=100'; path !== undefined; ) {
    const { status, headers, body } = await request('GET', path, { as: key });
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    all.push(...body);
    const [, next] = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
    path = next?.slice(next.indexOf('/webhooks/'));
  }
  return all;
}

async function must(
  { request }: System,
  expected: number,
  ...[method, path, options]: Parameters<System['request']>
) {
  const { status, body } = await request(method, path, options);
  if (status !== expected) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}
