/** The story of docs/acknowledgements.md: a factory with departments, members and readers, over several versions. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  createWebhook,
  findTestProgram,
  type Member,
  must,
  type Person,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { verifyAuditLog } from '../../clients/typescript/src/audit-log.ts';
import {
  type AcknowledgementFixture,
  acknowledgementFixture,
} from '../../services/sharing/testing/acknowledgements.ts';

const pythonVerifier = join(import.meta.dirname, '../../docs/audit-log/verify_audit_log.py');
const departments = ['Line 1', 'Line 2', 'Warehouse'];
const memberCount = 40;
const readerCount = 200;

let fixture: AcknowledgementFixture;
let receiver: WebhookReceiver;
let admin: Person;

beforeAll(async () => {
  [fixture, receiver] = await Promise.all([acknowledgementFixture(), webhookReceiver()]);
  admin = await fixture.organization();
}, 120_000);
afterAll(async () => {
  await fixture?.app.stop();
  await receiver?.close();
});

/** Runs work for all items, ten at a time. */
async function forAll<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += 10)
    results.push(...(await Promise.all(items.slice(at, at + 10).map(work))));
  return results;
}

test('a factory asks 40 members and 200 readers over three versions', async () => {
  const as = admin.key;
  const { app } = fixture;
  const types = ['requested', 'made', 'completed'].map((type) => `acknowledgement.${type}`);
  await createWebhook(app, as, receiver.url, types);
  const countEvents = (type: string) =>
    new Set(
      receiver.received
        .map(({ body }) => JSON.parse(body))
        .filter(({ event_type }) => event_type === `acknowledgement.${type}`)
        .map(({ id }) => id),
    ).size;

  for (const name of departments) await must(app, 'POST', '/departments', { as, body: { name } });
  const names = Array.from({ length: memberCount }, (_, at) => departments[at % departments.length] ?? '');
  const members: Member[] = await forAll(names, (name) => fixture.member(admin, name));

  const first = await fixture.publish(as, { title: 'Locking out the press' });
  const { id } = await fixture.ask(as, first.id, { audience: { departments } });
  const readers = await fixture.addReaders(
    as,
    id,
    Array.from({ length: readerCount }, (_, at) => `E-${at}`),
  );
  const getTotals = async () => (await fixture.getRequest(as, id)).totals;
  const all = memberCount + readerCount;
  expect(await getTotals()).toEqual({ people: all, acknowledged: 0, pending: all, overdue: 0 });

  // all but one member confirm, then the last one
  await forAll(readers, async ({ url }) => {
    const { acknowledgement } = (await fixture.read(url)).body;
    expect((await fixture.submit(url, { content_hash: acknowledgement.content_hash })).status).toBe(303);
  });
  const [last, ...others] = members;
  if (!last) throw new Error('There is no member');
  await forAll(others, ({ token }) => fixture.acknowledge(token, first));
  expect(await getTotals()).toMatchObject({ acknowledged: all - 1, pending: 1 });
  expect(countEvents('completed')).toBe(0);
  await fixture.acknowledge(last.token, first);
  await until('the completed request', async () => countEvents('completed') === 1);
  await until('an event for each person', async () => countEvents('made') === all);

  // a minor revision asks nobody again
  const minor = await fixture.revise(as, first.id, { title: 'Locking out the press ', minor_change: true });
  expect(await getTotals()).toMatchObject({ acknowledged: all });

  // a leaver, a joiner, and a reader who is deleted
  await must(app, 'DELETE', `/members/${last.userId}`, { as });
  const joiner = await fixture.member(admin, 'Line 2');
  const [deleted, ...remaining] = readers;
  await must(app, 'DELETE', `/acknowledgement-requests/${id}/readers/${deleted.id}`, { as });
  expect(await getTotals()).toEqual({ people: all - 1, acknowledged: all - 2, pending: 1, overdue: 0 });
  expect(await must(app, 'GET', '/acknowledgement-requests?awaiting=me', { as: joiner.token })).toHaveLength(
    1,
  );
  expect((await fixture.read(deleted.url)).status).toBe(404);

  // a major revision asks everybody again
  const major = await fixture.revise(as, minor.id, { title: 'Locking out both presses' });
  expect(await getTotals()).toEqual({ people: all - 1, acknowledged: 0, pending: all - 1, overdue: 0 });
  await until('the second request to read', async () => countEvents('requested') === 2);
  const fields = { content_hash: major.content_hash };
  await forAll(remaining, ({ url }) => fixture.submit(url, fields));
  await forAll([joiner, ...others], ({ token }) => fixture.acknowledge(token, major));
  await until('the second completed request', async () => countEvents('completed') === 2);

  // the report
  const path = `/acknowledgement-requests/${id}/people?format=csv`;
  const csv = Buffer.from((await app.request('GET', path, { as })).bytes).toString();
  const lines = csv.trimEnd().split('\r\n');
  expect(lines).toHaveLength(1 + all - 1);
  expect(lines.slice(1).every((line) => line.includes(',acknowledged,') && line.endsWith(major.id))).toBe(
    true,
  );
  expect(csv).not.toContain(last.userId);

  // every record of the first version is still there, also those of people who left
  const { db } = app;
  const records = db.collection('acknowledgements');
  expect(await records.countDocuments({ document_id: first.id, content_hash: first.content_hash })).toBe(all);
  expect(await records.countDocuments({ document_id: major.id, ...fields })).toBe(all - 1);

  // the audit log has all of it and no name, and both verifiers accept its export
  const countEntries = (action: string) =>
    db.collection('audit_log').countDocuments({ organization_id: admin.organizationId, action });
  const changes = {
    ...{ 'document.published': 1, 'document.revised': 2, 'member.removed': 1 },
    ...{ 'acknowledgement.made': 2 * all - 1, 'acknowledgement.reader_deleted': 1 },
  };
  for (const [action, count] of Object.entries(changes))
    await until(`${count} entries ${action}`, async () => (await countEntries(action)) === count);
  const { bytes } = await app.request('GET', '/audit-log/export', { as });
  const verified = await verifyAuditLog(bytes, { from: 1 });
  expect(await verifyInPython(bytes, verified.hash ?? '')).toMatch(
    new RegExp(`^(NOT TESTED|${verified.entries} entries, 1 to ${verified.last}, .* ${verified.hash}\n$)`),
  );
  expect(new TextDecoder().decode(bytes)).not.toMatch(/Reader E-|"E-\d+"|\/read\//);
}, 600_000);

/** Returns what the Python program of the docs prints about a complete log that contains a hash. */
async function verifyInPython(bytes: Uint8Array, hash: string): Promise<string> {
  const python = await findTestProgram('python3', { from: 'python3', purpose: 'The audit log in Python' });
  if (!python) return 'NOT TESTED';
  const folder = await mkdtemp(join(tmpdir(), 'audit-log-'));
  try {
    const file = join(folder, 'log.jsonl');
    await writeFile(file, bytes);
    const args = ['-B', pythonVerifier, file, '--from', '1', '--hash', hash];
    return (await promisify(execFile)(python, args)).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
