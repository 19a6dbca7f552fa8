/**
 * Kills every process while random operations change an organization. Afterwards the audit log has one entry for each
 * successful operation and none for a refused one. AUDIT_LOG_OPERATIONS sets their number.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  addMember,
  type Member,
  type MongoReplicaSet,
  ownMongo,
  type Person,
  register,
  type TestRabbit,
  testRabbit,
  until,
} from '#libs/testing';
import { verifyAuditLog } from '../../clients/typescript/src/audit-log.ts';
import { type System, startSystem } from '../chaos/system.ts';

const operationCount = Number(process.env.AUDIT_LOG_OPERATIONS ?? 200);
/** Two replicas of identity append to the same log. */
const names = ['identity', 'identity', 'documents', 'sharing', 'webhook-delivery'];

let mongo: MongoReplicaSet;
let rabbit: TestRabbit;
let system: System;
let ada: Person;
/** One member for each worker. They are also the approvers. */
let guests: Member[];
const workers = 4;
/** The number of entries before the operations. */
let before: number;
/** The expected number of entries for each action and target. */
const expected = new Map<string, number>();
/** A replayed response has null instead of its secret. */
const secrets = new Set<string | null>();

beforeAll(async () => {
  [mongo, rabbit] = await Promise.all([ownMongo(), testRabbit()]);
  system = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, names });
  ada = await register(system);
  const scale = { $set: { plan: 'scale', publish_limit: null, storage_limits: {} } };
  await system.db.collection<{ _id: string }>('subscriptions').updateOne({ _id: ada.organizationId }, scale);
  guests = [];
  while (guests.length < workers) guests.push(await addMember(system, ada.key));
  // the registration created the first key; each guest was invited and joined
  before = 1 + 2 * workers;
  const own = { organization_id: ada.organizationId };
  const entries = system.db.collection('audit_log');
  await until('the entries of the preparation', async () => (await entries.countDocuments(own)) === before);
}, 400_000);
afterAll(async () => {
  await system?.stop();
  await mongo?.stop();
  await rabbit?.stop();
});

/** Sends a request until it is answered. A repeated POST has no second effect. */
async function send(method: string, path: string, body?: unknown, as = ada.key) {
  const headers = method === 'POST' ? { 'idempotency-key': newId() } : {};
  return until(`${method} ${path}`, async () => {
    const response = await system.request(method, path, { as, headers, body }).catch(() => undefined);
    const isAnswered = response && response.status < 500 && ![409, 429].includes(response.status);
    return isAnswered ? response : undefined;
  });
}

const count = (action: string, target: string) =>
  expected.set(`${action} ${target}`, (expected.get(`${action} ${target}`) ?? 0) + 1);

/** Creates a published document and sometimes shares and archives it. */
async function useDocument(): Promise<void> {
  const { body: draft } = await send('POST', '/documents', { title: `SOP ${newId()}` });
  // refused: a draft cannot be archived
  expect((await send('POST', `/documents/${draft.id}/archive`)).status).toBe(400);
  expect((await send('POST', `/documents/${draft.id}/publish`)).status).toBe(200);
  count('document.published', draft.id);
  if (Math.random() < 0.5) return;
  const { body: link } = await send('POST', `/documents/${draft.id}/share-token`);
  secrets.add(link.token);
  count('share_token.created', draft.id);
  await send('DELETE', `/documents/${draft.id}/share-token`);
  count('share_token.deleted', draft.id);
  expect((await send('POST', `/documents/${draft.id}/archive`)).status).toBe(200);
  count('document.archived', draft.id);
}

async function useKey(): Promise<void> {
  const { body: key } = await send('POST', '/api-keys', { name: 'Private name of a key' });
  secrets.add(key.key);
  count('api_key.created', key.id);
  expect((await send('DELETE', `/api-keys/${newId()}`)).status).toBe(404);
  await send('DELETE', `/api-keys/${key.id}`);
  count('api_key.revoked', key.id);
}

async function useWebhook(): Promise<void> {
  const url = 'http://127.0.0.1:9/private-path';
  const body = { name: 'Hook', url, event_types: ['document.assigned'] };
  const { body: webhook } = await send('POST', '/webhooks', body);
  secrets.add(webhook.secret);
  count('webhook.created', webhook.id);
  await send('POST', `/webhooks/${webhook.id}/rotate-secret`);
  count('webhook.secret_rotated', webhook.id);
  await send('PATCH', `/webhooks/${webhook.id}`, { is_active: false });
  count('webhook.updated', webhook.id);
  await send('DELETE', `/webhooks/${webhook.id}`);
  count('webhook.deleted', webhook.id);
}

/** Changes the role of the worker's own member. */
async function useMember(worker: number): Promise<void> {
  const { userId } = getGuest(worker);
  for (const role of ['admin', 'member']) {
    expect((await send('PATCH', `/members/${userId}`, { role })).status).toBe(200);
    count('member.updated', userId);
  }
  const { body: invitation } = await send('POST', '/members/invitations', {
    email: `${newId()}@example.com`,
  });
  count('member.invited', invitation.id);
}

/** Lets the worker's own member decide about a draft. */
async function useApproval(worker: number): Promise<void> {
  const { userId, email, password } = getGuest(worker);
  const { body: draft } = await send('POST', '/documents', { title: `SOP ${newId()}` });
  const request = { document_id: draft.id, approver_ids: [userId] };
  const { body: approval } = await send('POST', '/approvals', request);
  count('approval.requested', approval.id);
  // refused: it is not approved yet
  expect((await send('POST', `/documents/${draft.id}/publish`)).status).toBe(400);
  if (Math.random() < 0.3) {
    await send('POST', `/approvals/${approval.id}/withdraw`);
    count('approval.withdrawn', approval.id);
    return;
  }
  const isGood = Math.random() < 0.5;
  const { content_hash } = approval;
  const decision = isGood
    ? { decision: 'approve', content_hash }
    : { decision: 'reject', content_hash, comment: 'Private comment' };
  // the session of a long run ends
  const { body: session } = await send('POST', '/auth/login', { email, password });
  const path = `/approvals/${approval.id}/decision`;
  expect((await send('POST', path, decision, session.access_token)).status).toBe(200);
  count('approval.decided', approval.id);
  count(isGood ? 'approval.approved' : 'approval.rejected', approval.id);
  if (!isGood) return;
  expect((await send('POST', `/documents/${draft.id}/publish`)).status).toBe(200);
  count('document.published', draft.id);
}

function getGuest(worker: number): Member {
  const guest = guests[worker];
  if (!guest) throw new Error(`There is no guest ${worker}`);
  return guest;
}

async function changeOrganization(): Promise<void> {
  expect((await send('PATCH', '/organization', { slug: `slug-${newId().slice(-12)}` })).status).toBe(200);
  count('organization.updated', ada.organizationId);
}

test('each successful operation has one entry, and a refused one none', async () => {
  let isDone = false;
  const killing = (async () => {
    for (let at = 0; !isDone; at += 1) {
      await system.processes[at % system.processes.length]?.killAndRestart();
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
    return system.processes.length;
  })();
  const actions = [useDocument, useKey, useWebhook, useMember, useApproval];
  const work = Array.from({ length: workers }, async (_, worker) => {
    while (sum() < operationCount) {
      // one worker alone changes the organization, so that its changes do not undo each other
      if (worker === 0 && Math.random() < 0.3) await changeOrganization();
      await actions[Math.floor(Math.random() * actions.length)]?.(worker);
    }
  });
  await Promise.all(work);
  isDone = true;
  await killing;

  const entries = system.db.collection('audit_log');
  const own = { organization_id: ada.organizationId };
  const found = await until(
    'all entries',
    async () =>
      (await entries.countDocuments(own)) >= sum() + before ? entries.find(own).toArray() : undefined,
    180_000,
  );
  const counted = new Map<string, number>();
  for (const { action, target_id } of found.filter(({ seq }) => seq > before))
    counted.set(`${action} ${target_id}`, (counted.get(`${action} ${target_id}`) ?? 0) + 1);
  expect([...counted].sort()).toEqual([...expected].sort());
  const { bytes } = await system.request('GET', '/audit-log/export', { as: ada.key });
  expect(await verifyAuditLog(bytes, { from: 1 })).toMatchObject({ entries: found.length });
  const log = new TextDecoder().decode(bytes);
  const people = [ada, ...guests].map(({ email }) => email);
  secrets.delete(null);
  for (const text of [...secrets, ...people, 'Private name', 'private-path', 'Private comment'])
    expect(log).not.toContain(text);
}, 3_600_000);

/** The number of expected entries. */
function sum(): number {
  return [...expected.values()].reduce((total, one) => total + one, 0);
}
