/** The log on a real MongoDB: filters find their entries without reading all the others. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { openTestStore } from '../testing/store-fixture.ts';
import { type DeliveryRow, webhookConfigs, webhookDeliveries } from './collections.ts';
import { createEventLog, type ListOptions } from './log.ts';
import { createDelivery } from './update-pipelines.ts';

const organization_id = newId();
const [busy, quiet, deleted] = [newId(), newId(), newId()];
const begin = Date.parse('2026-11-21T09:30:00Z');

let own: { store: Store; stop(): Promise<void> };

beforeAll(async () => {
  own = await openTestStore();
  const config = { organization_id, created_by: newId(), name: 'Hook', url: 'https://example.com' };
  const configs = [busy, quiet].map((_id) => ({ ...config, _id }));
  await own.store.rows(webhookConfigs).insertMany(configs, { lean: true });
  const made = [
    ...rows(20, deleted, { status: 'failed', event_type: 'document.published' }),
    ...rows(20, quiet, { status: 'failed', event_type: 'member.joined' }),
    ...rows(20, quiet, { status: 'pending', event_type: 'member.joined' }),
    ...rows(20, quiet, { status: 'delivered', event_type: 'member.joined' }),
    ...rows(2_000, busy, { status: 'delivered', event_type: 'document.published' }),
  ].map((row, at) => ({ ...row, created_at: new Date(begin + at * 1_000) }));
  await own.store.rows(webhookDeliveries).insertMany(made, { lean: true });
}, 60_000);
afterAll(() => own?.stop());

function rows(
  count: number,
  config_id: string,
  deliveryRow: Pick<DeliveryRow, 'status' | 'event_type'>,
): DeliveryRow[] {
  return Array.from({ length: count }, () => {
    const told = { event_id: newId(), organization_id, document_id: null, ...deliveryRow };
    return { ...createDelivery(told, config_id, new Date(begin)), ...deliveryRow };
  });
}

const filters: [Partial<ListOptions>, number][] = [
  [{}, 2_080],
  [{ config_id: quiet }, 60],
  [{ config_id: quiet, status: 'delivered' }, 20],
  [{ config_id: deleted }, 20],
  [{ status: 'failed' }, 40],
  [{ status: 'pending' }, 20],
  [{ status: 'delivered' }, 2_020],
  [{ event_type: 'member.joined' }, 60],
  [{ config_id: newId() }, 0],
];

test.each(filters)('filter %j lists all its entries and reads few others', async (filter, all) => {
  const log = createEventLog(own.store, () => new Date());
  const db = own.store.rows(webhookDeliveries).db.db;
  const acting = { organization_id, user_id: null };
  await db?.command({ profile: 2 });
  const found: DeliveryRow[] = [];
  for (let after: ListOptions['after']; ; after = found.at(-1)) {
    const page = await log.list(acting, { ...filter, after, limit: 101 });
    found.push(...page);
    if (page.length < 101) break;
  }
  await db?.command({ profile: 0 });
  const profile = own.store.rows(webhookDeliveries).db.collection('system.profile');
  const seen = await profile.find({ ns: /webhook_deliveries$/, op: { $in: ['query', 'getmore'] } }).toArray();
  await profile.drop();
  expect(found).toHaveLength(all);
  for (const [name, value] of Object.entries(filter))
    expect(new Set(found.map((row) => Reflect.get(row, name)))).toEqual(new Set(all > 0 ? [value] : []));
  const times = found.map(({ created_at }) => created_at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(new Set(found.map(({ _id }) => _id)).size).toBe(all);
  expect(seen.length).toBeGreaterThan(0);
  const read = seen.reduce((sum, { docsExamined }) => sum + docsExamined, 0);
  // those that are delivered stand among the few that are not
  expect(read).toBeLessThanOrEqual(all + 100);
  expect(seen.filter(({ hasSortStage }) => hasSortStage)).toEqual([]);
});
