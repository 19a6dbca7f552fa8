/**
 * Tells whether the services still work on what earlier requests caused. Every query has an index, because benchmarks
 * count the time of MongoDB.
 */
import type mongoose from 'mongoose';

const outboxes = ['identity', 'documents', 'sharing', 'export', 'webhook_delivery'].map(
  (service) => `${service}_outbox`,
);
const anyTime = { $gt: new Date(0) };

/** Whether an event, a search text, an update event, a delivery or a notification is pending. */
export async function hasPendingWork(db: mongoose.mongo.Db): Promise<boolean> {
  const [documents, deliveries] = [db.collection('documents'), db.collection('webhook_deliveries')];
  const found = await Promise.all([
    ...outboxes.map((name) => db.collection(name).findOne({ pending: true, lease_until: anyTime })),
    documents.findOne({ reindex_at: anyTime }),
    documents.findOne({ update_event_due_at: anyTime }),
    deliveries.findOne({ status: 'pending', lock_token: { $exists: true } }),
    deliveries.findOne({ status: 'pending', due_at: { $lte: new Date() } }),
    deliveries.findOne({ notification_pending: true }),
  ]);
  return found.some((row) => row !== null);
}
