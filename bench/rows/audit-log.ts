/** The audit log: a page of a long one, and how many entries one organization gets per second. */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#libs/contract';
import { publishDocument } from '#libs/testing';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { pairedRow } from '../paired.ts';
import { smallDocument } from './trees.ts';

/** Registers an organization and gives it a log of `count` entries. Returns the request of its newest page. */
async function createLog({ register, db }: BenchFixture, count: number) {
  const { organizationId: organization_id, userId: actor_id, key } = await register();
  const hash = createHash('sha256').update('bench').digest('hex');
  const entries = Array.from({ length: count }, (_, at) => ({
    ...{
      _id: newId(),
      organization_id,
      seq: at + 1_000,
      occurred_at: new Date(),
      action: 'document.published',
    },
    ...{ actor_type: 'member', actor_id, api_key_id: null, request_id: null, document_id: null },
    ...{ target_type: 'document', target_id: actor_id, details: '{"title":"A procedure","version":"1.0"}' },
    ...{ previous_hash: hash, hash },
  }));
  for (let at = 0; at < count; at += 10_000)
    await db.collection<DbRow>('audit_log').insertMany(entries.slice(at, at + 10_000));
  return { method: 'GET' as const, path: '/api/v1/audit-log', key };
}

/** The cost of a page must not depend on the length of the log. */
export const auditLogPage = pairedRow({
  name: 'audit log: 100 of 100,000 vs. 100 of 1,000',
  goal: 1.2,
  pairedWith: 'in an organization with 1,000 entries',
  async prepare(fixture, share) {
    const long = await createLog(fixture, Math.max(1_000, Math.round(100_000 * Math.min(1, share))));
    const short = await createLog(fixture, 1_000);
    return [() => () => long, () => () => short];
  },
});

const rateEvents = 3_000;

/** The rate at which events that wait in an outbox become entries of one organization's log. */
export const auditLogRate: Limit = {
  name: 'audit log: entries of one organization',
  unit: '/s',
  goal: 100,
  isMinimum: true,
  statistic: 'median',
  remark: 'published documents, whose events wait in the outbox; all services consume them',
  async measure({ register, api, db }, share) {
    const { organizationId: organization_id, key } = await register();
    const { id } = await publishDocument(api, key, smallDocument);
    const [outbox, log] = [db.collection<DbRow>('documents_outbox'), db.collection<DbRow>('audit_log')];
    const entries = { organization_id, action: 'document.published' };
    const published = await outbox.findOne({ type: 'document.published', event: { $regex: id } });
    if (!published) throw new Error('The event of the document was not found');
    const count = Math.ceil(rateEvents * share);
    const until = async (wanted: number) => {
      const deadline = performance.now() + 120_000;
      while ((await log.countDocuments(entries)) < wanted) {
        if (performance.now() > deadline)
          throw new Error(`There are fewer than ${wanted} entries after two minutes`);
        await pause(50);
      }
    };
    await until(1);
    const { type, event } = published;
    const rows = Array.from({ length: count }, () => {
      const _id = newId();
      const copy = JSON.stringify({ ...JSON.parse(event), id: _id });
      return {
        _id,
        type,
        event: copy,
        created_at: new Date(),
        pending: true,
        lease_until: new Date(0),
        failures: 0,
      };
    });
    const startedAt = performance.now();
    await outbox.insertMany(rows);
    await until(count + 1);
    return [count / ((performance.now() - startedAt) / 1000)];
  },
};
