/** Tests how entries are appended: in batches, in order, once, by two replicas, and despite one that fails. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Envelope, newId } from '#libs/contract';
import { dispatchByType, toTopology } from '#libs/events';
import { profileCommands, until } from '#libs/testing';
import { type StoreFixture, storeFixture } from '../../../libs/testing/store-fixture.ts';
import { contracts } from '../../contracts.ts';
import { identityContract } from '../contract.ts';
import { emptyLog, hashEntry } from '../rules/audit-chain.ts';
import {
  type AuditLogRepository,
  auditLogRepository,
  type NewAuditEntry,
  toEntry,
} from '../store/audit-log.ts';
import type { AuditLogRow } from '../store/audit-log-collection.ts';
import { identityCollections } from '../store/collections.ts';
import { appendToAuditLog } from './appending.ts';

let fixture: StoreFixture;
let replicas: AuditLogRepository[];
beforeAll(async () => {
  fixture = await storeFixture();
  const options = {
    contract: identityContract,
    collections: identityCollections,
    topology: toTopology(contracts),
  };
  replicas = [await fixture.open(options), await fixture.open(options)].map(auditLogRepository);
});
afterAll(() => fixture?.stop());

const { signal } = new AbortController();

/** Handles events with the repository of a replica, or with another `append`. */
function consume(append: AuditLogRepository['append']) {
  const recorded: string[] = [];
  const auditLogMetrics = {
    recordEntry: ({ occurred_at }: { occurred_at: string }) => void recorded.push(occurred_at),
  };
  const dispatch = dispatchByType(appendToAuditLog({ auditLog: { append }, auditLogMetrics }));
  return { recorded, handle: (event: Envelope) => dispatch(event, signal) };
}

const replica = (at: number) => replicas[at]?.append ?? Promise.reject;

/** Creates the event of a member who revoked a key. */
function createEvent(organization_id: string): Envelope {
  return {
    ...{ id: newId(), type: 'api_key.revoked', occurred_at: new Date().toISOString() },
    ...{ organization_id, actor_id: newId(), data: { key_ids: [newId()], member_id: newId() } },
  };
}

const readLog = async (organization_id: string) =>
  (
    await fixture.db.collection<AuditLogRow>('audit_log').find({ organization_id }).sort({ seq: 1 }).toArray()
  ).map(toEntry);

/** Expects an unbroken chain of these events. */
async function expectChain(organization_id: string, ids: readonly string[]): Promise<void> {
  let head = emptyLog;
  const entries = await readLog(organization_id);
  for (const { hash, ...entry } of entries) {
    expect([entry.seq, entry.previous_hash]).toEqual([head.seq + 1, head.hash]);
    expect(hash).toBe(hashEntry(entry));
    head = { seq: entry.seq, hash };
  }
  expect(entries.map(({ id }) => id)).toEqual(ids);
}

test('entries of several organizations share a batch, each log in its order', async () => {
  const batches: number[] = [];
  const { handle } = consume(async (all) => {
    batches.push(all.length);
    return replica(0)(all);
  });
  const organizations = [newId(), newId(), newId()];
  const events = Array.from({ length: 30 }, (_, at) => createEvent(organizations[at % 3] ?? ''));
  await Promise.all(events.map(handle));
  expect(batches).toEqual([30]);
  for (const id of organizations)
    await expectChain(
      id,
      events.filter(({ organization_id }) => organization_id === id).map((one) => one.id),
    );
});

test('an event that arrives several times has one entry', async () => {
  const organization = newId();
  const [one, other] = [createEvent(organization), createEvent(organization)];
  const { handle, recorded } = consume(replica(0));
  await Promise.all([one, other, one, one].map(handle));
  await Promise.all([other, one].map(handle));
  await expectChain(organization, [one.id, other.id]);
  expect(recorded).toHaveLength(2);
});

test('two replicas that append to one log at the same time leave no gap', async () => {
  const organization = newId();
  const events = Array.from({ length: 60 }, () => createEvent(organization));
  const [first, second] = [consume(replica(0)), consume(replica(1))];
  // every event arrives at both
  await Promise.all(events.flatMap((event) => [first.handle(event), second.handle(event)]));
  const entries = await readLog(organization);
  await expectChain(
    organization,
    entries.map(({ id }) => id),
  );
  expect(entries.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort());
  expect(first.recorded.length + second.recorded.length).toBe(60);
});

test('an entry that fails does not stop the others', async () => {
  const organization = newId();
  const events = Array.from({ length: 5 }, () => createEvent(organization));
  const bad = new Set([events[1]?.id, events[3]?.id]);
  const { handle } = consume(async (all) => {
    if (all.some(({ id }) => bad.has(id))) throw new Error('no effect');
    return replica(0)(all);
  });
  const results = await Promise.allSettled(events.map(handle));
  expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true]);
  await expectChain(
    organization,
    events.filter(({ id }) => !bad.has(id)).map(({ id }) => id),
  );
});

test('while MongoDB is unavailable, a batch is tried once', async () => {
  const calls: (readonly NewAuditEntry[])[] = [];
  const { handle } = consume(async (all) => {
    calls.push(all);
    throw Object.assign(new Error('down'), { name: 'MongoNetworkError' });
  });
  const results = await Promise.allSettled(Array.from({ length: 3 }, () => handle(createEvent(newId()))));
  expect(results.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  await until('one call', async () => calls.length === 1);
});

test('an append to a long log reads no more than to a short one', async () => {
  const organizations = [newId(), newId()];
  const [long = '', short = ''] = organizations;
  const { handle } = consume(replica(0));
  await Promise.all(Array.from({ length: 300 }, () => handle(createEvent(long))));
  await handle(createEvent(short));
  const commands = await profileCommands(fixture.db, () =>
    Promise.all(organizations.map((id) => handle(createEvent(id)))),
  );
  const reads = commands.filter(({ collection, op }) => collection === 'audit_log' && op !== 'insert');
  expect(reads).toHaveLength(2);
  for (const { docsExamined, keysExamined } of reads) {
    expect(docsExamined).toBeLessThanOrEqual(2);
    expect(keysExamined).toBeLessThanOrEqual(4);
  }
});
