/** Organizations that publish during a fault, the receiver of their webhooks, and the check of all invariants. */
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

/** A webhook receiver that records requests and responses. */
export interface RecordingReceiver {
  /** The URL of a webhook. */
  getUrl(name: string): string;
  /** All POSTs, oldest first. */
  posts: Post[];
  /** Sets the responder for later requests; by default all responses are 204. */
  respondWith(responder?: Responder): void;
  close(): Promise<void>;
}

/** An organization with an API key and webhooks. */
export interface TestTenant {
  organizationId: string;
  key: string;
  hooks: { id: string; secret: string; url: string }[];
  /** Ids of documents whose publish request returned 200. */
  published: string[];
}

/** Starts a recording receiver. */
export async function startReceiver(): Promise<RecordingReceiver> {
  const posts: Post[] = [];
  let responder: Responder = () => 204;
  const webhookServer = await webhookReceiver(async (received: ReceivedRequest) => {
    const { path, headers, body } = received;
    const post: Post = { webhook: path.slice(1), headers, body, at: Date.now() };
    posts.push(post);
    const reply = await responder(received);
    post.response = { status: typeof reply === 'number' ? reply : reply.status, at: Date.now() };
    return reply;
  });
  const { origin } = new URL(webhookServer.url);
  return {
    getUrl: (name) => `${origin}/${name}`,
    posts,
    respondWith(next = () => 204) {
      responder = next;
    },
    close: webhookServer.close,
  };
}

/** Registers an organization with one webhook per URL for `document.published`. */
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

/** Creates and publishes a document. Rejects if a status is not as expected. */
export async function publish(system: System, tenant: TestTenant): Promise<void> {
  const as = tenant.key;
  const { id } = await must(system, 201, 'POST', '/documents', { as, body: { title: 'SOP' } });
  await must(system, 200, 'POST', `/documents/${id}/publish`, { as });
  tenant.published.push(id);
}

/** Publishes documents at a constant rate. `stop` waits for open requests and returns their errors. */
export function startPublishing(
  system: System,
  tenant: TestTenant,
  perSecond: number,
): { stop(): Promise<string[]> } {
  let isOver = false;
  const errors: string[] = [];
  const requests: Promise<unknown>[] = [];
  const loop = (async () => {
    while (!isOver && !system.signal.aborted) {
      requests.push(publish(system, tenant).catch((error: Error) => errors.push(error.message)));
      // the pause sets the rate
      await pause(1_000 / perSecond);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await loop;
      await Promise.all(requests);
      return errors;
    },
  };
}

/** Waits until every event is published and every delivery has ended. After a timeout, the checker finds the rest. */
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
  await until('the end of all deliveries', isOver, withinMs).catch(() => {});
}

/** All violations of invariants. Call it after `waitUntilSettled`. */
export async function findViolations(
  system: System,
  tenants: readonly TestTenant[],
  receiver: RecordingReceiver,
  more: Partial<Pick<Observations, 'outages' | 'secrets'>> & { entries?: 'from the database' } = {},
): Promise<string[]> {
  const { accepted, rows } = await readStoredState(system, tenants);
  const shown = more.entries ? rows : (await Promise.all(tenants.map((one) => readLog(system, one)))).flat();
  const hooks = tenants.flatMap((tenant) => tenant.hooks);
  const byUrl = new Map(hooks.map(({ id, url }) => [new URL(url).pathname.slice(1), id]));
  const posts = receiver.posts.map((post) => ({ ...post, webhook: byUrl.get(post.webhook) ?? post.webhook }));
  // secrets created later are valid in addition to the first one
  const secrets = new Map(hooks.map(({ id, secret }) => [id, [secret, ...(more.secrets?.get(id) ?? [])]]));
  const { outages = [] } = more;
  const { deadlineMs } = system;
  const found = checkInvariants({ accepted, posts, rows, entries: shown, secrets, outages, deadlineMs });
  return [...found, ...(await findEventMismatches(system, tenants))];
}

/** Reads the events of these organizations from the outbox, and their event log from MongoDB. */
async function readStoredState({ db }: System, tenants: readonly TestTenant[]) {
  const ids = tenants.map(({ organizationId }) => organizationId);
  const hookIds = new Map(
    tenants.map(({ organizationId, hooks }) => [organizationId, hooks.map(({ id }) => id)]),
  );
  const stored = await db.collection('documents_outbox').find({ type: 'document.published' }).toArray();
  const events = stored.map(({ event }) => JSON.parse(event));
  const accepted = events.flatMap(({ id, organization_id }) => {
    const webhooks = hookIds.get(organization_id);
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

/** Checks that each published document has exactly one event, and that each document with a 200 is published. */
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
      .map((id) => `Accepted: publishing document ${id} returned 200, but it is not published`),
    ...[...about.keys()]
      .filter((id) => !published.has(id))
      .map((id) => `I6: document ${id} has a published event, but it is not published`),
    ...[...published]
      .filter((id) => about.get(id)?.length !== 1)
      .map((id) => `Accepted: document ${id} is published and has ${about.get(id)?.length ?? 0} events`),
  ];
}

/** Reads the whole event log of an organization from the API, page by page. */
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
