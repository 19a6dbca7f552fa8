/** Fills a database with other organizations, their documents and their webhook logs. */
import { newId } from '#libs/contract';
import type { Row } from '../baseline/handler.ts';
import type { BenchFixture } from '../fixture.ts';

/** How much is added. */
export interface Growth {
  organizations: number;
  /** Documents of all added organizations together. */
  documents: number;
  /** Log entries of all organizations together. */
  deliveries: number;
}

const perInsert = 5_000;

/**
 * Adds organizations with one member and one API key each, their documents, and log entries. The documents are copies
 * of `documentId`. The log entries belong to all organizations in turn, including that of the fixture.
 */
export async function grow(fixture: BenchFixture, documentId: string, growth: Growth): Promise<void> {
  const { db, organization } = fixture;
  const ids = Array.from({ length: growth.organizations }, () => newId());
  await copyOrganization(fixture, ids);
  const document = await db.collection<Row>('documents').findOne({ _id: documentId });
  const at = (index: number) => ids[index % ids.length] ?? '';
  await insert(fixture, 'documents', growth.documents, (index) => {
    const _id = newId();
    return { ...document, _id, family_id: _id, organization_id: at(index), reindex_at: null };
  });
  const owners = [organization.organizationId, ...ids];
  const webhooks = new Map(owners.map((owner) => [owner, newId()]));
  await insert(fixture, 'webhook_deliveries', growth.deliveries, (index) => {
    const owner = owners[index % owners.length] ?? '';
    return createDelivery(owner, webhooks.get(owner) ?? '', index);
  });
}

/** Copies the organization of the fixture with its admin, plan and API key. */
async function copyOrganization({ db, organization }: BenchFixture, ids: readonly string[]): Promise<void> {
  const { organizationId, userId } = organization;
  const find = async (name: string, filter: object) => {
    const row = await db.collection<Row>(name).findOne(filter);
    if (!row) throw new Error(`The organization has no row in ${name}`);
    return row;
  };
  const [first, user, member, plan, key] = [
    await find('organizations', { _id: organizationId }),
    await find('users', { _id: userId }),
    await find('members', { organization_id: organizationId }),
    await find('subscriptions', { _id: organizationId }),
    await find('api_keys', { organization_id: organizationId }),
  ];
  const copies = ids.map((id) => ({ id, user_id: newId() }));
  const insertAll = (name: string, rows: Row[]) => db.collection<Row>(name).insertMany(rows);
  await insertAll(
    'organizations',
    copies.map(({ id }) => ({ ...first, _id: id, slug: id })),
  );
  await insertAll(
    'users',
    copies.map(({ user_id }) => ({ ...user, _id: user_id, email: `${user_id}@example.com` })),
  );
  const toMemberId = ({ id, user_id }: { id: string; user_id: string }) => `${id}:${user_id}`;
  const owned = copies.map((copy) => ({ ...copy, member_id: toMemberId(copy) }));
  await insertAll(
    'members',
    owned.map(({ id, user_id, member_id }) => ({ ...member, _id: member_id, organization_id: id, user_id })),
  );
  await insertAll(
    'subscriptions',
    copies.map(({ id }) => ({ ...plan, _id: id })),
  );
  await insertAll(
    'api_keys',
    owned.map(({ id, ...owner }) => ({ ...key, ...owner, _id: newId(), hash: newId(), organization_id: id })),
  );
}

/** Creates a log entry of the last 30 days. One of a hundred has failed. */
function createDelivery(organization_id: string, config_id: string, index: number): Row {
  const created_at = new Date(Date.now() - ((index * 7_919) % (30 * 86_400)) * 1_000);
  const hasFailed = index % 100 === 0;
  return {
    _id: newId(),
    organization_id,
    config_id,
    event_id: newId(),
    event_type: 'document.published',
    document_id: newId(),
    status: hasFailed ? 'failed' : 'delivered',
    attempts: hasFailed ? 3 : 1,
    http_status: hasFailed ? 500 : 204,
    duration_ms: 20,
    error: hasFailed ? 'http_status' : null,
    is_first: true,
    redeliverable: true,
    shard: index % 16,
    created_at,
    updated_at: created_at,
  };
}

async function insert(
  { db }: BenchFixture,
  name: string,
  count: number,
  create: (index: number) => Row,
): Promise<void> {
  for (let from = 0; from < count; from += perInsert) {
    const rows = Array.from({ length: Math.min(perInsert, count - from) }, (_, at) => create(from + at));
    await db.collection<Row>(name).insertMany(rows, { ordered: false });
  }
}
