/** Rows for the audit log: a page of a long one. */
import { createHash } from 'node:crypto';
import { newId } from '#libs/contract';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture } from '../fixture.ts';
import { pairedRow } from '../paired.ts';

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
