/** Tests on a real MongoDB that log filters return the right entries and examine few others. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { openTestStore } from '../testing/store-fixture.ts';
import { type DeliveryRow, webhookConfigs, webhookDeliveries } from './collections.ts';
import { createEventLog, type ListOptions } from './log.ts';
import { createDelivery } from './new-deliveries.ts';

const organization_id = newId();
const [busyHook, quietHook, deletedHook] = [newId(), newId(), newId()];
const [oldDocument, newDocument] = [newId(), newId()];
const startMs = Date.parse('2026-11-21T09:30:00Z');

const loggedAttempt = {
  attempt: 1,
  started_at: new Date(startMs),
  duration_ms: 5,
  http_status: 200,
  error: null,
  response: { headers: {}, body: 'body of a response', encoding: 'utf-8' as const, truncated: false },
};

let fixture: { store: Store; stop(): Promise<void> };

beforeAll(async () => {
  fixture = await openTestStore();
  const config = { organization_id, created_by: newId(), name: 'Hook', url: 'https://example.com' };
  const configs = [busyHook, quietHook].map((_id) => ({ ...config, _id }));
  await fixture.store.rows(webhookConfigs).insertMany(configs, { lean: true });
  const deliveries = [
    ...rows(20, deletedHook, {
      status: 'failed',
      event_type: 'document.published',
      document_id: oldDocument,
    }),
    ...rows(20, quietHook, { status: 'failed', event_type: 'member.joined' }),
    ...rows(20, quietHook, { status: 'pending', event_type: 'member.joined' }),
    ...rows(20, quietHook, { status: 'delivered', event_type: 'member.joined' }),
    ...rows(10, busyHook, { status: 'delivered', event_type: 'document.revised', document_id: oldDocument }),
    ...rows(190, busyHook, {
      status: 'delivered',
      event_type: 'document.published',
      document_id: newDocument,
    }),
    ...rows(1_800, busyHook, { status: 'delivered', event_type: 'document.published' }),
  ].map((row, at) => ({ ...row, created_at: new Date(startMs + at * 1_000) }));
  await fixture.store.rows(webhookDeliveries).insertMany(deliveries, { lean: true });
});
afterAll(() => fixture?.stop());

function rows(
  count: number,
  config_id: string,
  fields: Pick<DeliveryRow, 'status' | 'event_type'> & Partial<DeliveryRow>,
): DeliveryRow[] {
  return Array.from({ length: count }, () => {
    const event = { event_id: newId(), organization_id, document_id: null, ...fields };
    return {
      ...createDelivery(event, config_id, new Date(startMs)),
      ...fields,
      attempt_log: [loggedAttempt],
    };
  });
}

const filters: [Partial<ListOptions>, number][] = [
  [{}, 2_080],
  [{ config_id: quietHook }, 60],
  [{ config_id: quietHook, status: 'delivered' }, 20],
  [{ config_id: deletedHook }, 20],
  [{ status: 'failed' }, 40],
  [{ status: 'pending' }, 20],
  [{ status: 'delivered' }, 2_020],
  [{ event_type: 'member.joined' }, 60],
  [{ config_id: newId() }, 0],
  [{ document_id: oldDocument }, 30],
  [{ document_id: oldDocument, config_id: deletedHook }, 20],
  [{ document_id: oldDocument, status: 'delivered' }, 10],
  [{ document_id: oldDocument, status: 'failed', event_type: 'document.published' }, 20],
  [{ document_id: newDocument }, 190],
  [{ document_id: newId() }, 0],
];

test.each(filters)('filter %j lists all its entries and reads few others', async (filter, total) => {
  const log = createEventLog(fixture.store, () => new Date());
  const db = fixture.store.rows(webhookDeliveries).db.db;
  const actor = { organization_id, user_id: null };
  await db?.command({ profile: 2 });
  const found: DeliveryRow[] = [];
  for (let after: ListOptions['after']; ; after = found.at(-1)) {
    const page = await log.list(actor, { ...filter, after, limit: 101 });
    found.push(...page);
    if (page.length < 101) break;
  }
  await db?.command({ profile: 0 });
  const profile = fixture.store.rows(webhookDeliveries).db.collection('system.profile');
  const operations = await profile
    .find({ ns: /webhook_deliveries$/, op: { $in: ['query', 'getmore'] } })
    .toArray();
  await profile.drop();
  expect(found).toHaveLength(total);
  for (const [name, value] of Object.entries(filter))
    expect(new Set(found.map((row) => Reflect.get(row, name)))).toEqual(new Set(total > 0 ? [value] : []));
  expect(JSON.stringify(found)).not.toContain(loggedAttempt.response.body);
  const times = found.map(({ created_at }) => created_at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(new Set(found.map(({ _id }) => _id)).size).toBe(total);
  expect(operations.length).toBeGreaterThan(0);
  const examined = operations.reduce((sum, { docsExamined }) => sum + docsExamined, 0);
  // the filter by delivered also examines the few entries with another status
  expect(examined).toBeLessThanOrEqual(total + 100);
  expect(operations.filter(({ hasSortStage }) => hasSortStage)).toEqual([]);
});
