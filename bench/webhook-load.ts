/** Load for the webhook limits: publishes documents at a constant rate. */
import { setTimeout as pause } from 'node:timers/promises';
import { createDocument, type Person } from '#libs/testing';
import type { BacklogWebhook } from '../services/webhook-delivery/testing/backlog.ts';
import type { Row as DbRow } from './baseline/handler.ts';
import type { BenchFixture, Side } from './fixture.ts';
import { smallDocument } from './rows/trees.ts';

/** Deletes all deliveries to these webhooks. */
export async function deleteDeliveries(
  { db }: Pick<BenchFixture, 'db'>,
  hooks: readonly BacklogWebhook[],
): Promise<void> {
  await db
    .collection<DbRow>('webhook_deliveries')
    .deleteMany({ config_id: { $in: hooks.map(({ id }) => id) } });
}

/**
 * Publishes documents with ten nodes each, for the organizations in turn, at a constant rate that does not
 * depend on the response times. The default side is the service.
 */
export async function publishAtRate(
  fixture: BenchFixture,
  organizations: readonly Person[],
  { side = 'service', count, perSecond }: { count: number; perSecond: number; side?: Side },
): Promise<void> {
  const { api, copyDocument, clients, db } = fixture;
  const each = Math.ceil(count / organizations.length);
  const drafts: string[][] = [];
  for (const organization of organizations) {
    const { id } = await createDocument(api, organization.key, smallDocument);
    drafts.push(await copyDocument(id, each));
  }
  // flush now, so that MongoDB does not flush during the measurement
  await db.admin().command({ fsync: 1 });
  const startedAt = performance.now();
  const requests: Promise<unknown>[] = [];
  for (let i = 0; i < count; i += 1) {
    const untilDueMs = startedAt + (i * 1000) / perSecond - performance.now();
    if (untilDueMs > 0) await pause(untilDueMs);
    const at = i % organizations.length;
    const path = `${prefixes[side]}/api/v1/documents/${drafts[at]?.[Math.floor(i / organizations.length)]}/publish`;
    requests.push(clients[side].send({ method: 'POST', path, key: organizations[at]?.key ?? '' }));
  }
  await Promise.all(requests);
}

const prefixes: Record<Side, string> = { service: '', baseline: '/publishAndSendWebhooks' };
