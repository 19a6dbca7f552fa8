/** Deliveries put straight into the queue, as if their events had been heard: for tests and benchmarks of many. */
import { newId } from '#libs/contract';
import type { TestApp } from '#libs/testing';
import { shardOf } from '../rules/fair-scheduler.ts';
import { toBody } from '../rules/message.ts';

/** A webhook, and whose it is. */
export interface BacklogWebhook {
  id: string;
  organization_id: string;
}

interface Row {
  _id: string;
  [field: string]: unknown;
}

const rowsAtOnce = 2_000;

/** Puts deliveries into the queue, to the webhooks in turn, as if their events had been heard; all due at one moment. */
export async function enqueueDeliveries(
  db: TestApp['db'],
  hooks: readonly BacklogWebhook[],
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
    await db.collection<Row>('webhook_events').insertMany(bodies, { ordered: false });
    const rows = some.map(({ row }) => row);
    await db.collection<Row>('webhook_deliveries').insertMany(rows, { ordered: false });
  }
}

function waiting({ id: config_id, organization_id }: BacklogWebhook, due_at: Date) {
  const [_id, event_id, created_at] = [newId(), newId(), new Date()];
  const type = 'document.published';
  const document = { id: newId(), title: 'Payment system incident response', status: 'published' };
  const told = { id: event_id, type, occurred_at: due_at.toISOString(), organization_id, data: { document } };
  const event = { _id: event_id, organization_id, body: toBody(told), created_at };
  const what = { event_id, event_type: type, organization_id, document_id: document.id, config_id };
  const unsent = { is_first: true, status: 'pending', attempts: 0, due_at, shard: shardOf(_id) };
  const seen = { http_status: null, duration_ms: null, error: null, created_at, updated_at: created_at };
  return { event, row: { _id, ...what, ...unsent, ...seen } };
}
