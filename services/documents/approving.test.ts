/** Tests the approval of drafts over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { hashDocument } from '../../tests/content-hash/documents.ts';
import { services } from '../testing/services.ts';
import { Approval } from './contract.ts';
import { outcome } from './testing/lifecycle.ts';
import { type LifecycleFixture, lifecycleFixture } from './testing/lifecycle-fixture.ts';
import type { TestMember } from './testing/test-context.ts';

let { context, lifecycle, approval, ada, owner, editor, bystander, stranger } = {} as LifecycleFixture;
let second: TestMember;

beforeAll(async () => {
  ({ context, lifecycle, approval, ada, owner, editor, bystander, stranger } =
    await lifecycleFixture(services));
  second = await context.member(ada);
});
afterAll(() => context?.app.stop());

const tree = { title: 'SOP', nodes: [{ node_type: 'section', title: 'A' }] };
const post = (member: TestMember, body: object, path = '') =>
  context.app.request('POST', `/approvals${path}`, { as: member.as, body });
const createKey = async (member: TestMember): Promise<TestMember> => {
  const { body } = await context.app.request('POST', '/api-keys', { as: member.as, body: { name: 'Key' } });
  return { as: body.key, id: member.id };
};
const removeMember = ({ id }: TestMember) => context.app.request('DELETE', `/members/${id}`, { as: ada.as });

describe('a request for approval', () => {
  test('freezes the draft with the hash of its words and asks the approvers', async () => {
    const draft = await context.create(owner, tree);
    const { status, body, headers } = await approval.submit(owner, draft.id, [bystander, second]);
    expect([status, headers.get('location')]).toEqual([201, `/api/v1/approvals/${body.id}`]);
    const undecided = { name: null, decision: null, comment: null, decided_at: null };
    expect(Approval.parse(body)).toEqual({
      ...{ id: body.id, document_id: draft.id, content_hash: await hashDocument(draft), status: 'pending' },
      ...{ submitted_by: owner.id, comment: null, created_at: body.created_at },
      approvers: [bystander, second].map(({ id }) => ({ member_id: id, ...undecided })),
    });
    expect((await approval.get(editor, body.id)).body).toEqual(body);
    expect(await lifecycle.get(owner, draft.id)).toMatchObject({
      ...{ status: 'draft', content_hash: body.content_hash },
      approval: { id: body.id, status: 'pending', approved_at: null },
    });
    expect((await approval.get(stranger, body.id)).status).toBe(404);
  });

  test('is approved when the last approver approves, and then published', async () => {
    const draft = await context.create(owner, tree);
    const request = await approval.createRequest(owner, draft.id, [bystander, second]);
    const { body: first } = await approval.approve(bystander, request);
    expect(first).toMatchObject({
      status: 'pending',
      approvers: [{ decision: 'approve' }, { decision: null }],
    });
    expect(first.approvers[0].name).toEqual(expect.any(String));
    expect(outcome(await lifecycle.publish(ada, draft.id))).toEqual([400, 'approval_missing']);
    const { status, body } = await approval.approve(second, request);
    expect([status, body.status]).toEqual([200, 'approved']);
    const approved = { id: request.id, status: 'approved', approved_at: expect.any(String) };
    expect(await lifecycle.get(owner, draft.id)).toMatchObject({ status: 'draft', approval: approved });
    const published = await lifecycle.publish(owner, draft.id);
    expect(published.body).toMatchObject({ content_hash: request.content_hash, approval: approved });
    expect((await approval.get(owner, request.id)).body).toEqual(body);
    expect(outcome(await approval.withdraw(owner, request.id))).toEqual([400, 'approval_closed']);
    const [history] = (
      await context.request(owner, 'GET', `${(await lifecycle.createRevision(owner, draft.id)).id}/history`)
    ).body;
    expect(history.approval).toEqual(published.body.approval);
  });

  test.each(['reject', 'withdraw'] as const)('%s makes the draft editable again', async (action) => {
    const draft = await context.create(owner, tree);
    const request = await approval.createRequest(owner, draft.id, [bystander, second]);
    await approval.approve(second, request);
    const ended =
      action === 'reject'
        ? await approval.reject(bystander, request)
        : await approval.withdraw(owner, request.id);
    expect([ended.status, ended.body.status]).toEqual([200, action === 'reject' ? 'rejected' : 'withdrawn']);
    expect(await lifecycle.get(owner, draft.id)).toMatchObject({ content_hash: null, approval: null });
    expect((await context.request(owner, 'PATCH', draft.id, { title: 'Changed' })).status).toBe(200);
    expect(outcome(await approval.approve(bystander, request))[0]).toBe(400);
    const again = await approval.createRequest(owner, draft.id, [bystander]);
    const outdated = { id: again.id, content_hash: request.content_hash };
    expect(outcome(await approval.approve(bystander, outdated))).toEqual([400, 'content_changed']);
    expect((await approval.approve(bystander, again)).status).toBe(200);
    // an approved request can be withdrawn, too
    expect((await approval.withdraw(ada, again.id)).status).toBe(200);
    expect((await context.request(owner, 'DELETE', draft.id)).status).toBe(204);
    expect((await approval.get(owner, again.id)).body.status).toBe('withdrawn');
    expect(outcome(await approval.withdraw(ada, again.id))).toEqual([400, 'approval_closed']);
  });

  test('needs a draft, at least one approver and a document that exists', async () => {
    const draft = await context.create(owner);
    expect((await approval.submit(owner, draft.id)).body).toMatchObject({
      ...{ code: 'invalid_request', errors: [{ path: 'body/approver_ids' }] },
    });
    await approval.createRequest(owner, draft.id, [second]);
    expect(outcome(await approval.submit(owner, draft.id, [second]))).toEqual([400, 'document_in_approval']);
    const { id } = await lifecycle.createPublished(owner);
    expect(outcome(await approval.submit(owner, id, [second]))).toEqual([400, 'document_not_draft']);
    for (const unknown of [newId(), (await context.create(stranger)).id])
      expect((await approval.submit(owner, unknown, [second])).body).toMatchObject({
        ...{ code: 'invalid_request', errors: [{ path: 'body/document_id' }] },
      });
  });

  test('may be sent by the owner, the editor and admins only', async () => {
    const draft = await context.create(owner);
    await context.request(owner, 'PATCH', `${draft.id}/editor`, { editor_id: editor.id });
    expect(outcome(await approval.submit(bystander, draft.id, [second]))).toEqual([403, 'forbidden']);
    for (const member of [owner, editor, ada]) {
      const { id, submitted_by } = await approval.createRequest(member, draft.id, [second]);
      expect(submitted_by).toBe(member.id);
      expect(outcome(await approval.withdraw(second, id))).toEqual([403, 'forbidden']);
      expect((await approval.withdraw(member, id)).status).toBe(200);
    }
  });

  test('is sent once for each Idempotency-Key', async () => {
    const draft = await context.create(owner);
    const headers = { 'idempotency-key': newId() };
    const send = () =>
      context.app.request('POST', '/approvals', {
        ...{ as: owner.as, headers },
        body: { document_id: draft.id, approver_ids: [second.id] },
      });
    const [first, again] = [await send(), await send()];
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(await approval.list(owner, `?document_id=${draft.id}`)).toEqual([first.body.id]);
  });

  test.each<[string, object]>([
    ['21 approvers', { approver_ids: Array.from({ length: 21 }, newId) }],
    ['an approver twice', { approver_ids: Array(2).fill('0199c2a4-6f80-7c3a-9d51-2b7e4f8a1c60') }],
    ['no id', { approver_ids: ['x'] }],
    ['null', { approver_ids: null }],
    ['a comment of 2,001 characters', { comment: 'x'.repeat(2_001) }],
    ['an unknown field', { other: 1 }],
  ])('with %s is invalid', async (_, fields) => {
    const draft = await context.create(owner);
    const response = await post(owner, { document_id: draft.id, approver_ids: [second.id], ...fields });
    expect(outcome(response)).toEqual([400, 'invalid_request']);
    expect((await lifecycle.get(owner, draft.id)).approval).toBeNull();
  });
});

describe('four eyes', () => {
  test('the submitter, contributors and non-members cannot approve', async () => {
    const draft = await context.create(owner, tree);
    await context.request(owner, 'PATCH', `${draft.id}/editor`, { editor_id: editor.id });
    await context.request(editor, 'PATCH', `${draft.id}/nodes/${draft.nodes[0].id}`, { title: 'B' });
    const leaver = await context.member(ada);
    await removeMember(leaver);
    const asked = [owner, editor, leaver, stranger, ada, second];
    const { status, body } = await approval.submit(ada, draft.id, asked);
    expect([status, body.code]).toEqual([400, 'approver_not_eligible']);
    expect(body.approvers).toEqual([
      { member_id: owner.id, reason: 'contributor' },
      { member_id: editor.id, reason: 'contributor' },
      { member_id: leaver.id, reason: 'not_member' },
      { member_id: stranger.id, reason: 'not_member' },
      { member_id: ada.id, reason: 'submitter' },
    ]);
  });

  test('a write by an API key counts for its member', async () => {
    const draft = await context.create(owner, tree);
    await context.request(owner, 'PATCH', `${draft.id}/editor`, { editor_id: editor.id });
    await context.request(await createKey(editor), 'POST', `${draft.id}/nodes`, {
      ...{ node_type: 'section', title: 'B', order: 1 },
    });
    const { body } = await approval.submit(owner, draft.id, [editor]);
    expect(body.approvers).toEqual([{ member_id: editor.id, reason: 'contributor' }]);
  });

  test('revise and restore make nobody a contributor, duplicate does', async () => {
    const { id } = await lifecycle.createPublished(owner, tree);
    const revision = await lifecycle.createRevision(ada, id);
    expect((await approval.submit(owner, revision.id, [second])).status).toBe(201);
    await approval.withdraw(owner, (await lifecycle.get(owner, revision.id)).approval.id);
    const asked = await approval.submit(bystander, revision.id, [owner]);
    expect(asked.status).toBe(403);
    // the owner has not written this draft
    expect((await approval.submit(ada, revision.id, [owner])).status).toBe(201);
    await lifecycle.archive(owner, id);
    const { body: restored } = await context.request(owner, 'POST', `${id}/restore`);
    expect((await approval.submit(ada, restored.id, [owner])).status).toBe(201);
    const { body: copy } = await context.request(second, 'POST', `${id}/duplicate`);
    expect((await approval.submit(ada, copy.id, [second])).body.approvers).toEqual([
      { member_id: second.id, reason: 'contributor' },
    ]);
  });

  test('owner and editor wrote a draft without known contributors', async () => {
    const draft = await context.create(owner, tree);
    await context.request(owner, 'PATCH', `${draft.id}/editor`, { editor_id: editor.id });
    const rows = context.app.db.collection<{ _id: string }>('documents');
    const unset = { contributor_ids: 1, approver_ids: 1, approval: 1 } as const;
    await rows.updateOne({ _id: draft.id }, { $unset: unset });
    expect(await lifecycle.get(owner, draft.id)).toMatchObject({ approver_ids: [], approval: null });
    await context.request(ada, 'PATCH', draft.id, { title: 'T' });
    const { body } = await approval.submit(second, draft.id, [owner]);
    expect(body.code).toBe('forbidden');
    const { body: refused } = await approval.submit(owner, draft.id, [editor, ada]);
    expect(refused.approvers).toEqual([
      { member_id: editor.id, reason: 'contributor' },
      { member_id: ada.id, reason: 'contributor' },
    ]);
  });
});

describe('a decision', () => {
  test('is made in person, by an approver, once', async () => {
    const draft = await context.create(owner, tree);
    const request = await approval.createRequest(owner, draft.id, [second, bystander]);
    expect(outcome(await approval.approve(await createKey(second), request))).toEqual([
      403,
      'person_required',
    ]);
    for (const member of [owner, editor]) {
      expect(outcome(await approval.approve(member, request))).toEqual([403, 'forbidden']);
    }
    expect(outcome(await approval.approve(stranger, request))).toEqual([403, 'person_required']);
    expect((await approval.approve(second, request)).status).toBe(200);
    for (const decide of [approval.approve, approval.reject])
      expect(outcome(await decide(second, request))).toEqual([400, 'already_decided']);
    await approval.withdraw(owner, request.id);
    expect(outcome(await approval.approve(bystander, request))).toEqual([400, 'approval_closed']);
  });

  test('names the content hash, and a rejection its reason', async () => {
    const draft = await context.create(owner, tree);
    const { id, content_hash } = await approval.createRequest(owner, draft.id, [second]);
    const path = `/${id}/decision`;
    for (const body of [
      { decision: 'reject', content_hash },
      { decision: 'reject', content_hash, comment: '  ' },
      // a zero-width space, a Hangul filler and an empty Braille pattern
      ...['\u200b', '\u3164', '\u2800'].map((comment) => ({ decision: 'reject', content_hash, comment })),
      { decision: 'approve' },
      { decision: 'approve', content_hash: 'sha256:0' },
      { decision: 'maybe', content_hash },
    ])
      expect(outcome(await post(second, body, path))).toEqual([400, 'invalid_request']);
    // the form of the body comes before the question who may decide
    const withoutReason = { decision: 'reject', content_hash };
    const { status, body: rejected } = await post(bystander, withoutReason, path);
    expect([status, rejected.errors]).toMatchObject([400, [{ path: 'body/comment' }]]);
    const other = { decision: 'approve', content_hash: `sha256:${'0'.repeat(64)}` };
    expect(outcome(await post(second, other, path))).toEqual([400, 'content_changed']);
    const comment = 'Good.';
    const { body } = await post(second, { decision: 'approve', content_hash, comment }, path);
    expect(body.approvers).toMatchObject([{ member_id: second.id, decision: 'approve', comment }]);
  });

  test('stays valid when its approver leaves; a pending one is missing', async () => {
    const [left, right] = [await context.member(ada), await context.member(ada)];
    const draft = await context.create(owner, tree);
    const request = await approval.createRequest(owner, draft.id, [left, right, second]);
    await approval.approve(left, request);
    await removeMember(left);
    await removeMember(right);
    expect((await approval.approve(right, request)).status).toBe(401);
    expect((await approval.approve(second, request)).body.status).toBe('pending');
    expect(outcome(await lifecycle.publish(owner, draft.id))).toEqual([400, 'approval_missing']);
    await approval.withdraw(owner, request.id);
    const again = await approval.createRequest(owner, draft.id, [second]);
    await approval.approve(second, again);
    expect((await lifecycle.publish(owner, draft.id)).status).toBe(200);
  });

  test('is replayed for its Idempotency-Key', async () => {
    const draft = await context.create(owner, tree);
    const { id, content_hash } = await approval.createRequest(owner, draft.id, [second]);
    const body = { decision: 'approve', content_hash };
    const headers = { 'idempotency-key': newId() };
    const send = (as: string) =>
      context.app.request('POST', `/approvals/${id}/decision`, { as, headers, body });
    const [first, again] = [await send(second.as), await send(second.as)];
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
    expect((await send(owner.as)).status).toBe(403);
  });
});

describe('lists of requests', () => {
  test('are filtered by document, status and awaited decision, newest first', async () => {
    const admin = await context.admin();
    const [author, one, two] = [
      await context.member(admin),
      await context.member(admin),
      await context.member(admin),
    ];
    const submit = async (approvers: TestMember[]) =>
      approval.createRequest(author, (await context.create(author)).id, approvers);
    const [first, third] = [await submit([one, two]), await submit([one])];
    const fourth = await submit([two]);
    await approval.reject(one, third);
    await approval.approve(one, first);
    expect(await approval.list(one)).toEqual([fourth.id, third.id, first.id]);
    expect(await approval.list(one, `?document_id=${third.document_id}`)).toEqual([third.id]);
    expect(await approval.list(one, '?status=pending')).toEqual([fourth.id, first.id]);
    expect(await approval.list(one, '?status=pending&status=rejected&limit=100')).toHaveLength(3);
    expect(await approval.list(one, '?awaiting=me')).toEqual([]);
    expect(await approval.list(two, '?awaiting=me')).toEqual([fourth.id, first.id]);
    expect(await approval.list(two, '?awaiting=me&status=rejected')).toEqual([]);
    const page = await context.app.request('GET', '/approvals?limit=2', { as: two.as });
    expect(page.body.map(({ id }: Approval) => id)).toEqual([fourth.id, third.id]);
    const [, next = ''] = /<\/api\/v1([^>]+)>/.exec(page.headers.get('link') ?? '') ?? [];
    const last = await context.app.request('GET', next, { as: two.as });
    expect(last.body.map(({ id }: Approval) => id)).toEqual([first.id]);
    expect(await approval.list(stranger)).toEqual([]);
    await context.request(author, 'DELETE', third.document_id);
    expect(await approval.list(one, `?document_id=${third.document_id}`)).toEqual([third.id]);
    expect(await approval.list(one, `?document_id=${third.document_id}&status=pending`)).toEqual([]);
    for (const query of [`document_id=${newId()}`, 'status=open', 'awaiting=you', `document_id=x`]) {
      const { status } = await context.app.request('GET', `/approvals?${query}`, { as: two.as });
      expect(status).toBe(400);
    }
  });
});
