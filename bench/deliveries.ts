/** What rows of webhook delivery need: webhooks at a receiver, rows that are due, and documents published at a steady pace. */
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#libs/contract';
import { bodyOf } from '../services/webhook-delivery/rules/message.ts';
import { shardOf } from '../services/webhook-delivery/rules/slots.ts';
import type { Row as DbRow } from './floor/answering.ts';
import { smallDocument } from './rows/trees.ts';
import type { Organization, Stage } from './stage.ts';

/** A webhook, and whose it is. */
export interface Hook {
  id: string;
  organization_id: string;
}

/** Registers a webhook of an organization. */
export async function hooked(
  { api }: Stage,
  house: Organization,
  url: string,
  type = 'document.published',
): Promise<Hook> {
  return api(house, 'POST', '/webhooks', { name: 'Bench', url, event_types: [type] });
}

const rowsAtOnce = 2_000;

/** Puts deliveries into the queue, to the webhooks in turn, as if their events had been heard; all due at one moment. */
export async function enqueued(
  { db }: Pick<Stage, 'db'>,
  hooks: readonly Hook[],
  count: number,
  due_at = new Date(),
): Promise<void> {
  for (let at = 0; at < count; at += rowsAtOnce) {
    const some = Array.from({ length: Math.min(rowsAtOnce, count - at) }, (_, i) => {
      const hook = hooks[(at + i) % hooks.length];
      if (!hook) throw new Error('There is no webhook');
      return waiting(hook, due_at);
    });
    const bodies = some.map(({ event }) => event);
    await db.collection<DbRow>('webhook_events').insertMany(bodies, { ordered: false });
    const rows = some.map(({ row }) => row);
    await db.collection<DbRow>('webhook_deliveries').insertMany(rows, { ordered: false });
  }
}

function waiting({ id: config_id, organization_id }: Hook, due_at: Date) {
  const [_id, event_id, created_at] = [newId(), newId(), new Date()];
  const type = 'document.published';
  const document = { id: newId(), title: 'Payment system incident response', status: 'published' };
  const told = { id: event_id, type, occurred_at: due_at.toISOString(), organization_id, data: { document } };
  const event = { _id: event_id, organization_id, body: bodyOf(told), created_at };
  const what = { event_id, event_type: type, organization_id, document_id: document.id, config_id };
  const unsent = { original: true, status: 'pending', attempts: 0, due_at, shard: shardOf(_id) };
  const seen = { http_status: null, duration_ms: null, error: null, created_at, updated_at: created_at };
  return { event, row: { _id, ...what, ...unsent, ...seen } };
}

/** Takes deliveries away that nobody will ever answer. */
export async function removed({ db }: Pick<Stage, 'db'>, hooks: readonly Hook[]): Promise<void> {
  await db
    .collection<DbRow>('webhook_deliveries')
    .deleteMany({ config_id: { $in: hooks.map(({ id }) => id) } });
}

/** Publishes documents of ten nodes, of the organizations in turn, so many in a second whatever the answers take. */
export async function published(
  stage: Stage,
  houses: readonly Organization[],
  of: { count: number; perSecond: number },
): Promise<void> {
  const { api, copies, clients } = stage;
  const each = Math.ceil(of.count / houses.length);
  const drafts: string[][] = [];
  for (const house of houses) {
    const { id } = await api(house, 'POST', '/documents', smallDocument);
    drafts.push(await copies(id, each));
  }
  const startedAt = performance.now();
  const asked: Promise<unknown>[] = [];
  for (let i = 0; i < of.count; i += 1) {
    const behindMs = startedAt + (i * 1000) / of.perSecond - performance.now();
    if (behindMs > 0) await pause(behindMs);
    const at = i % houses.length;
    const path = `/api/v1/documents/${drafts[at]?.[Math.floor(i / houses.length)]}/publish`;
    asked.push(clients.ours.ask({ method: 'POST', path, key: houses[at]?.key ?? '' }));
  }
  await Promise.all(asked);
}
