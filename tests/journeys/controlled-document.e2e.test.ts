/**
 * The story of docs/controlled-documents.md: a program publishes what people have approved, keeps the evidence, and is
 * told when the review is due.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addMember,
  createWebhook,
  type Member,
  must,
  type Person,
  publishDocument,
  register,
  type TestApp,
  testApp,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { hashDocument } from '../content-hash/documents.ts';

const start = Date.parse('2026-11-30T09:30:00.000Z');
const dayMs = 86_400_000;

let app: TestApp;
/** The virtual clock. */
let now = start;
let receiver: WebhookReceiver;
let admin: Person;
let author: Member;
let approver: Member;

beforeAll(async () => {
  [app, receiver] = await Promise.all([
    testApp({ services, contracts, now: () => new Date(now) }),
    webhookReceiver(),
  ]);
  admin = await register(app);
  author = await addMember(app, admin.token);
  approver = await addMember(app, admin.token);
});
afterAll(async () => {
  await app?.stop();
  await receiver?.close();
});

const content = (text: string) => ({
  ...{ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] },
});
const section = (text: string) => ({ node_type: 'section', title: 'Cash', content: content(text) });

/** The program of the integrator: publishes each document whose approval its webhook reports. */
async function publishApproved(body: string): Promise<void> {
  const { event_type, data } = JSON.parse(body);
  if (event_type !== 'approval.approved') return;
  const path = `/documents/${data.document.id}/publish`;
  const { status, body: problem } = await app.request('POST', path, { as: admin.key });
  // a webhook can arrive twice
  if (status >= 400 && problem.code !== 'document_not_draft') throw new Error(JSON.stringify(problem));
}

test('a program publishes what people approve, and learns of reviews', async () => {
  const types = [
    ...['approval.requested', 'approval.approved', 'approval.rejected', 'document.revised'],
    'document.review_due',
  ];
  await createWebhook(app, admin.key, receiver.url, types);
  const publishing: Promise<void>[] = [];
  receiver.respondWith(({ body }) => {
    publishing.push(publishApproved(body));
    return 204;
  });
  const received = (type: string) =>
    receiver.received.map(({ body }) => JSON.parse(body)).filter((one) => one.event_type === type);
  const as = author.token;

  // 1. the admin names the approver, and the author drafts a new version
  const first = await publishDocument(app, as, {
    title: 'Till',
    version: '1',
    nodes: [section('One person.')],
  });
  const approver_ids = [approver.userId];
  await must(app, 'PATCH', `/documents/${first.id}/approvers`, { as: admin.key, body: { approver_ids } });
  const draft = await must(app, 'POST', `/documents/${first.id}/revise`, { as });
  const edit = (text: string) =>
    must(app, 'PATCH', `/documents/${draft.id}/nodes/${draft.nodes[0].id}`, {
      as,
      body: { content: content(text) },
    });
  await must(app, 'PATCH', `/documents/${draft.id}`, {
    as,
    body: { version: '2', change_summary: 'Two people.' },
  });
  await edit('A person.');

  // 2. the approver rejects it
  const submit = () => must(app, 'POST', '/approvals', { as, body: { document_id: draft.id } });
  const decide = async (decision: object) => {
    const [request] = await must(app, 'GET', '/approvals?awaiting=me', { as: approver.token });
    const body = { ...decision, content_hash: request.content_hash };
    return must(app, 'POST', `/approvals/${request.id}/decision`, { as: approver.token, body });
  };
  await submit();
  await decide({ decision: 'reject', comment: 'Say how many.' });
  await until('the rejection', async () => received('approval.rejected').length > 0);

  // 3. the author changes it and submits it again; it is approved, and the program publishes it
  await edit('Two people.');
  const request = await submit();
  const approved = await decide({ decision: 'approve' });
  const published = await until('the publish', async () => {
    const document = await must(app, 'GET', `/documents/${draft.id}`, { as });
    return document.status === 'published' && document;
  });
  await Promise.all(publishing);

  // 4. the evidence: who approved which words, and what changed
  expect(published).toMatchObject({
    ...{ content_hash: request.content_hash, change_summary: 'Two people.' },
    approval: { id: request.id, status: 'approved' },
  });
  expect(await hashDocument(published)).toBe(request.content_hash);
  expect(await must(app, 'GET', `/approvals/${request.id}`, { as })).toEqual(approved);
  const diff = await must(app, 'GET', `/documents/${draft.id}/diff`, { as });
  expect(diff.nodes).toMatchObject([
    {
      change: 'changed',
      text: [
        { op: 'delete', text: 'One' },
        { op: 'insert', text: 'Two' },
        { op: 'equal', text: ' ' },
        { op: 'delete', text: 'person' },
        { op: 'insert', text: 'people' },
        { op: 'equal', text: '.' },
      ],
    },
  ]);
  const [revised] = await until('the webhook about the new version', async () => {
    const found = received('document.revised');
    return found.length > 0 && found;
  });
  expect(revised.data.document.approval).toEqual(published.approval);

  // 5. the approver reviews it three months later: the end of February
  const reviewed = await must(app, 'PATCH', `/documents/${draft.id}/review`, {
    as: admin.key,
    body: { reviewer_id: approver.userId, every_months: 3 },
  });
  const { due_at } = reviewed.review;
  expect(due_at).toBe('2027-02-28T09:30:00.000Z');
  for (const days_left of [14, 0]) {
    now = Date.parse(due_at) - days_left * dayMs;
    const found = await until(`the notice ${days_left} days before`, async () =>
      received('document.review_due').find(({ data }) => data.days_left === days_left),
    );
    expect(found.data.document).toMatchObject({ id: draft.id, review: reviewed.review });
  }
  const { email, password } = approver;
  const session = await must(app, 'POST', '/auth/login', { body: { email, password } });
  const inPerson = { as: session.access_token };
  await until('the notification', async () => {
    const inbox = await must(app, 'GET', '/inbox', inPerson);
    return inbox.some(({ type }: { type: string }) => type === 'document.review_due');
  });
  const confirmed = await must(app, 'POST', `/documents/${draft.id}/review/confirm`, inPerson);
  expect(confirmed.review.due_at).toBe('2027-05-28T09:30:00.000Z');
  expect(confirmed.content_hash).toBe(request.content_hash);
  expect(received('document.review_due')).toHaveLength(2);
});
