/**
 * A minimal webhook relay: stores an event and its deliveries, sends each one signed, and stores the outcome.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { newId } from '#libs/contract';
import { type Client, type Db, type Row, withTransaction } from './handler.ts';

/** An event that the baseline publishes. */
export interface BaselineEvent {
  id: string;
  type: string;
  occurred_at: Date;
  organization_id: string;
  data: unknown;
}

/** Creates a function that sends an event to all subscribed webhooks. It has no retries and no limits. */
export function createWebhookSender(client: Client, db: Db): (event: BaselineEvent) => Promise<void> {
  const webhooks = db.collection<Row>('webhook_configs');
  const events = db.collection<Row>('baseline_events');
  const deliveries = db.collection<Row>('baseline_deliveries');
  const dispatcher = new Agent();
  const secret = randomBytes(32);

  return async ({ id, type, occurred_at, organization_id, data }) => {
    const targets = await webhooks.find({ organization_id, is_active: true, event_types: type }).toArray();
    if (targets.length === 0) return;
    const at = new Date();
    const body = JSON.stringify({ type, timestamp: occurred_at.toISOString(), data });
    const rows = targets.map(({ _id: config_id }) => ({
      _id: newId(),
      event_id: id,
      event_type: type,
      organization_id,
      config_id,
      status: 'pending',
      attempts: 1,
      locked_until: new Date(at.getTime() + 30_000),
      created_at: at,
      updated_at: at,
    }));
    await withTransaction(client, async (session) => {
      await events.insertOne({ _id: id, organization_id, body, created_at: at }, { session });
      await deliveries.insertMany(rows, { session });
    });
    const send = async (row: (typeof rows)[number], url: string) => {
      const seconds = Math.floor(Date.now() / 1000);
      const signature = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${signature}`,
      };
      const response = await request(url, { method: 'POST', headers, body, dispatcher });
      await response.body.dump();
      const outcome = { status: 'delivered', http_status: response.statusCode, updated_at: new Date() };
      await deliveries.updateOne({ _id: row._id }, { $set: outcome, $unset: { locked_until: 1 } });
    };
    await Promise.all(rows.map((row, i) => send(row, targets[i]?.url)));
  };
}
