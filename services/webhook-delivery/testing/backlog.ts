/** Inserts many deliveries directly into the queue, for tests and benchmarks. */
import { newId } from '#libs/contract';
import type { TestApp } from '#libs/testing';
import { toBody } from '../rules/message.ts';
import { toShard } from '../rules/shards.ts';

/** A webhook and its organization. */
export interface BacklogWebhook {
  id: string;
  organization_id: string;
}

interface Row {
  _id: string;
  [field: string]: unknown;
}

const batchSize = 2_000;

/** Inserts `count` deliveries, distributed round-robin over the webhooks. All are due at `due_at`. */
export async function enqueueDeliveries(
  db: TestApp['db'],
  hooks: readonly BacklogWebhook[],
  count: number,
  due_at = new Date(),
): Promise<void> {
  for (let start = 0; start < count; start += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, count - start) }, (_, i) => {
      const hook = hooks[(start + i) % hooks.length];
      if (!hook) throw new Error('At least one webhook is required');
      return createPending(hook, due_at);
    });
    const events = batch.map(({ event }) => event);
    await db.collection<Row>('webhook_events').insertMany(events, { ordered: false });
    const rows = batch.map(({ row }) => row);
    await db.collection<Row>('webhook_deliveries').insertMany(rows, { ordered: false });
  }
}

function createPending({ id: config_id, organization_id }: BacklogWebhook, due_at: Date) {
  const [_id, event_id, created_at] = [newId(), newId(), new Date()];
  const type = 'document.published';
  const document = { id: newId(), title: 'Payment system incident response', status: 'published' };
  const occurred_at = due_at.toISOString();
  const body = toBody({ id: event_id, type, occurred_at, organization_id, data: { document } });
  const event = { _id: event_id, organization_id, body, created_at };
  const ids = { event_id, event_type: type, organization_id, document_id: document.id, config_id };
  const schedule = { is_first: true, status: 'pending', attempts: 0, due_at, shard: toShard(_id) };
  const result = { http_status: null, duration_ms: null, error: null };
  return { event, row: { _id, ...ids, ...schedule, ...result, created_at, updated_at: created_at } };
}
