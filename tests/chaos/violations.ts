/** Checks the invariants of a running system: reads what it stores, shows and sent, and passes it to the checker. */
import { type CreatedWebhook, type HttpClient, listAll, type ReceivedRequest, until } from '#libs/testing';
import { findBrokenInvariants, formatBrokenInvariant } from '../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../tools/admin/verify/invariants.ts';
import { checkInvariants, type LogEntry, type Observations, type Post } from './checker.ts';
import type { System } from './system.ts';

/** An organization whose events are checked. */
export interface CheckedTenant {
  organizationId: string;
  key: string;
  hooks: readonly CreatedWebhook[];
  /** Ids of documents whose publish request returned 200. */
  published: readonly string[];
}

/** The system to check. */
export type CheckedSystem = HttpClient &
  Pick<System, 'db' | 'deadlineMs'> &
  Partial<Pick<System, 'getWarnings'>>;

type Db = System['db'];

/** Waits until every event is published and every delivery has ended. After a timeout, the checker finds the rest. */
export async function waitUntilSettled(
  { db }: Pick<CheckedSystem, 'db'>,
  tenants: readonly CheckedTenant[],
  withinMs: number,
): Promise<void> {
  const isOver = async () => {
    const waiting = outboxes.map((name) => db.collection(name).countDocuments({ pending: true }));
    if ((await Promise.all(waiting)).some((count) => count > 0)) return false;
    const { accepted, rows } = await readStoredState(db, tenants);
    const expected = accepted.reduce((sum, { webhooks }) => sum + webhooks.length, 0);
    return rows.length >= expected && rows.every(({ status }) => status !== 'pending');
  };
  await until('the end of all deliveries', isOver, withinMs).catch(() => {});
}

/** All violations of invariants. Prints the warnings in the logs if there are any. Call after `waitUntilSettled`. */
export async function findViolations(
  system: CheckedSystem,
  tenants: readonly CheckedTenant[],
  { received }: { received: readonly ReceivedRequest[] },
  more: Partial<Pick<Observations, 'outages' | 'secrets'>> & { entries?: 'from the database' } = {},
): Promise<string[]> {
  const { db, deadlineMs } = system;
  const { accepted, rows } = await readStoredState(db, tenants);
  const readLog = ({ key }: CheckedTenant) => listAll<LogEntry>(system, '/webhooks/events?limit=100', key);
  const entries = more.entries ? rows : (await Promise.all(tenants.map(readLog))).flat();
  const hooks = tenants.flatMap((tenant) => tenant.hooks);
  // secrets created later are valid in addition to the first one
  const secrets = new Map(hooks.map(({ id, secret }) => [id, [secret, ...(more.secrets?.get(id) ?? [])]]));
  const { outages = [] } = more;
  const posts = toPosts(received, hooks);
  const found = checkInvariants({ accepted, posts, rows, entries, secrets, outages, deadlineMs });
  found.push(...(await findLostPublishes(db, tenants)), ...(await findDatabaseViolations(db)));
  if (found.length > 0) for (const line of system.getWarnings?.() ?? []) process.stderr.write(`${line}\n`);
  return found;
}

/** The POSTs that a receiver got, each with the id of its webhook. */
export function toPosts(
  received: readonly ReceivedRequest[],
  hooks: readonly Pick<CreatedWebhook, 'id' | 'url'>[],
): Post[] {
  const byPath = new Map(hooks.map(({ id, url }) => [new URL(url).pathname, id]));
  return received.map(({ path, ...post }) => ({ ...post, webhook: byPath.get(path) ?? path }));
}

const outboxes = ['identity_outbox', 'documents_outbox'];

/** An event in an outbox. */
export interface StoredEvent {
  id: string;
  type: string;
  organization_id: string;
  data: Record<'document' | 'invitation' | 'member', { id: string } | undefined>;
}

/** Reads the events of these organizations from the outboxes. */
export async function readEvents(
  db: Db,
  tenants: readonly Pick<CheckedTenant, 'organizationId'>[],
): Promise<StoredEvent[]> {
  const ids = new Set(tenants.map(({ organizationId }) => organizationId));
  const found = await Promise.all(outboxes.map((name) => db.collection(name).find().toArray()));
  const events = found.flat().map(({ event }): StoredEvent => JSON.parse(event));
  return events.filter(({ organization_id }) => ids.has(organization_id));
}

/** Reads the events that webhooks of these organizations subscribe to, and the event log from MongoDB. */
async function readStoredState(db: Db, tenants: readonly CheckedTenant[]) {
  const hooks = new Map(tenants.map((tenant) => [tenant.organizationId, tenant.hooks]));
  const accepted = (await readEvents(db, tenants)).flatMap(({ id, type, organization_id }) => {
    const subscribed =
      hooks.get(organization_id)?.filter(({ event_types }) => event_types.includes(type)) ?? [];
    return subscribed.length > 0 ? [{ id, webhooks: subscribed.map((hook) => hook.id) }] : [];
  });
  const found = await db
    .collection('webhook_deliveries')
    .find({ organization_id: { $in: [...hooks.keys()] } })
    .toArray();
  const rows: LogEntry[] = found.map(({ _id, event_id, config_id, status, attempts, error }) => {
    return { id: String(_id), event_id, config_id, status, attempts, error };
  });
  return { accepted, rows };
}

/** Checks that each document whose publish request returned 200 is published. */
async function findLostPublishes(db: Db, tenants: readonly CheckedTenant[]): Promise<string[]> {
  const answered = tenants.flatMap((tenant) => tenant.published);
  const documents = await db
    .collection<{ _id: string }>('documents')
    .find({ _id: { $in: answered }, status: 'published' }, { projection: { _id: 1 } })
    .toArray();
  const published = new Set(documents.map(({ _id }) => _id));
  return answered
    .filter((id) => !published.has(id))
    .map((id) => `Accepted: publishing document ${id} returned 200, but it is not published`);
}

/**
 * The invariants of the whole database that are broken, as `npm run verify` finds them, by default without a grace
 * period. What work in the background establishes is checked again until it holds or a minute has passed.
 */
export async function findDatabaseViolations(db: Db, { graceMs = 0 } = {}): Promise<string[]> {
  const lines = new Map<string, string>();
  let open: string[] = [];
  const isEstablished = async () => {
    open = [];
    for await (const broken of findBrokenInvariants(db, invariants, { now: new Date(), graceMs })) {
      const { name, isEventual } = broken.invariant;
      if (isEventual) open.push(formatBrokenInvariant(broken));
      else lines.set(name, formatBrokenInvariant(broken));
    }
    return open.length === 0;
  };
  await until('the end of all work in the background', isEstablished).catch(() => {});
  return [...lines.values(), ...open].map((line) => `Database: ${line}`);
}
