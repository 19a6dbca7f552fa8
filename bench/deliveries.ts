/** What rows of webhook delivery need: webhooks at a receiver, rows that are due, and documents published at a steady pace. */
import { setTimeout as pause } from 'node:timers/promises';
import type { BacklogWebhook } from '../services/webhook-delivery/testing/backlog.ts';
import type { Row as DbRow } from './baseline/handler.ts';
import type { BenchFixture, Organization, Side } from './fixture.ts';
import { smallDocument } from './rows/trees.ts';

/** Registers a webhook of an organization. */
export async function hooked(
  { api }: BenchFixture,
  house: Organization,
  url: string,
  type = 'document.published',
): Promise<BacklogWebhook> {
  return api(house, 'POST', '/webhooks', { name: 'Bench', url, event_types: [type] });
}

/** Takes deliveries away that nobody will ever answer. */
export async function removed(
  { db }: Pick<BenchFixture, 'db'>,
  hooks: readonly BacklogWebhook[],
): Promise<void> {
  await db
    .collection<DbRow>('webhook_deliveries')
    .deleteMany({ config_id: { $in: hooks.map(({ id }) => id) } });
}

/** Publishes documents of ten nodes, of the organizations in turn, so many in a second whatever the answers take; by ours unless said. */
export async function published(
  stage: BenchFixture,
  houses: readonly Organization[],
  { side = 'ours', count, perSecond }: { count: number; perSecond: number; side?: Side },
): Promise<void> {
  const { api, copies, clients, db } = stage;
  const each = Math.ceil(count / houses.length);
  const drafts: string[][] = [];
  for (const house of houses) {
    const { id } = await api(house, 'POST', '/documents', smallDocument);
    drafts.push(await copies(id, each));
  }
  // not while the time is taken
  await db.admin().command({ fsync: 1 });
  const startedAt = performance.now();
  const asked: Promise<unknown>[] = [];
  for (let i = 0; i < count; i += 1) {
    const behindMs = startedAt + (i * 1000) / perSecond - performance.now();
    if (behindMs > 0) await pause(behindMs);
    const at = i % houses.length;
    const path = `${prefixes[side]}/api/v1/documents/${drafts[at]?.[Math.floor(i / houses.length)]}/publish`;
    asked.push(clients[side].ask({ method: 'POST', path, key: houses[at]?.key ?? '' }));
  }
  await Promise.all(asked);
}

const prefixes: Record<Side, string> = { ours: '', floor: '/publishAndTell' };
