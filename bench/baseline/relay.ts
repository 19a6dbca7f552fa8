/** A bare relay: keeps an event and what is to be told of it, tells each webhook once, signed, and keeps how that went. */
import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { newId } from '#libs/contract';
import { type Client, type Db, type Row, transacted } from './handler.ts';

/** An event of the floor. */
export interface Said {
  id: string;
  type: string;
  occurred_at: Date;
  organization_id: string;
  data: unknown;
}

/** Tells webhooks of events; it tries nothing again, and knows no limits. */
export function telling(client: Client, db: Db): (event: Said) => Promise<void> {
  const webhooks = db.collection<Row>('webhook_configs');
  const events = db.collection<Row>('floor_events');
  const deliveries = db.collection<Row>('floor_deliveries');
  const dispatcher = new Agent();
  const secret = randomBytes(32);

  return async ({ id, type, occurred_at, organization_id, data }) => {
    const to = await webhooks.find({ organization_id, is_active: true, event_types: type }).toArray();
    if (to.length === 0) return;
    const at = new Date();
    const body = JSON.stringify({ type, timestamp: occurred_at.toISOString(), data });
    const rows = to.map(({ _id: config_id }) => ({
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
    await transacted(client, async (session) => {
      await events.insertOne({ _id: id, organization_id, body, created_at: at }, { session });
      await deliveries.insertMany(rows, { session });
    });
    const tell = async (row: (typeof rows)[number], url: string) => {
      const seconds = Math.floor(Date.now() / 1000);
      const signature = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${signature}`,
      };
      const answer = await request(url, { method: 'POST', headers, body, dispatcher });
      await answer.body.dump();
      const set = { status: 'delivered', http_status: answer.statusCode, updated_at: new Date() };
      await deliveries.updateOne({ _id: row._id }, { $set: set, $unset: { locked_until: 1 } });
    };
    await Promise.all(rows.map((row, i) => tell(row, to[i]?.url)));
  };
}
