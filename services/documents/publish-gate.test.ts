/** Tests which drafts may be published without an approval, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { hashDocument } from '../../tests/content-hash/documents.ts';
import { services } from '../testing/services.ts';
import { Document } from './contract.ts';
import { outcome } from './testing/lifecycle.ts';
import { type LifecycleFixture, lifecycleFixture } from './testing/lifecycle-fixture.ts';
import type { TestMember } from './testing/test-context.ts';

let { context, lifecycle, approval, ada, owner, editor, bystander, stranger } = {} as LifecycleFixture;
let second: TestMember;

beforeAll(async () => {
  ({ context, lifecycle, approval, ada, owner, editor, bystander, stranger } = await lifecycleFixture(
    services,
    { PUBLISH_LIMIT_TRIAL: '2' },
  ));
  second = await context.member(ada);
});
afterAll(() => context?.app.stop());

const tree = { title: 'SOP', version: '1', nodes: [{ node_type: 'section', title: 'A' }] };

/** Creates a draft that these members have approved. */
async function createApproved(approvers: readonly TestMember[]): Promise<string> {
  const draft = await context.create(owner, tree);
  const request = await approval.createRequest(owner, draft.id, approvers);
  for (const approver of approvers) await approval.approve(approver, request);
  return draft.id;
}

describe('the approvers of a document', () => {
  test('belong to all its versions, and new versions have them', async () => {
    const first = await lifecycle.createPublished(owner, tree);
    const draft = await lifecycle.createRevision(owner, first.id);
    const { status, body, headers } = await approval.setApprovers(ada, draft.id, [second, bystander]);
    const approver_ids = [second.id, bystander.id];
    expect(status).toBe(200);
    expect(Document.parse(body)).toEqual({ ...draft, approver_ids, updated_at: body.updated_at });
    expect(headers.get('etag')).toBe('"2"');
    expect((await lifecycle.get(owner, first.id)).approver_ids).toEqual(approver_ids);
    const next = await lifecycle.createRevision(owner, first.id);
    expect(next.approver_ids).toEqual(approver_ids);
    const { body: copy } = await context.request(owner, 'POST', `${first.id}/duplicate`);
    expect(copy.approver_ids).toEqual([]);
    await approval.setApprovers(ada, first.id, []);
    for (const { id } of [first, draft, next])
      expect((await lifecycle.get(owner, id)).approver_ids).toEqual([]);
  });

  test('change nothing and publish no event if they stay the same', async () => {
    const first = await lifecycle.createPublished(owner, tree);
    const { id } = await lifecycle.createRevision(owner, first.id);
    for (const [approvers, etag] of [
      [[], '"1"'],
      [[second, bystander], '"2"'],
    ] as const) {
      await approval.setApprovers(ada, id, approvers);
      const versions = [await lifecycle.get(ada, first.id), await lifecycle.get(ada, id)];
      const events = await lifecycle.publishedEvents(id);
      const { status, body, headers } = await approval.setApprovers(ada, id, approvers);
      expect([status, body, headers.get('etag')]).toEqual([200, versions[1], etag]);
      expect([await lifecycle.get(ada, first.id), await lifecycle.get(ada, id)]).toEqual(versions);
      expect(await lifecycle.publishedEvents(id)).toEqual(events);
    }
  });

  test('are set by admins, and are members', async () => {
    const draft = await context.create(owner);
    for (const member of [owner, editor, bystander])
      expect(outcome(await approval.setApprovers(member, draft.id, [second]))).toEqual([403, 'forbidden']);
    const unknown = { as: '', id: newId() };
    const { body } = await approval.setApprovers(ada, draft.id, [second, unknown, stranger, owner]);
    expect(body).toMatchObject({ code: 'approver_not_eligible' });
    expect(body.approvers).toEqual(
      [unknown, stranger].map(({ id }) => ({ member_id: id, reason: 'not_member' })),
    );
    for (const approver_ids of [[second.id, second.id], Array.from({ length: 21 }, newId), null, ['x']]) {
      const response = await context.request(ada, 'PATCH', `${draft.id}/approvers`, { approver_ids });
      expect(outcome(response)).toEqual([400, 'invalid_request']);
    }
    expect((await lifecycle.get(owner, draft.id)).approver_ids).toEqual([]);
    const stale = { 'if-match': '"9"' };
    const body2 = { approver_ids: [second.id] };
    const refused = await context.request(ada, 'PATCH', `${draft.id}/approvers`, body2, stale);
    expect(outcome(refused)).toEqual([412, 'precondition_failed']);
  });

  test('cannot be set for an archived version', async () => {
    const { id } = await lifecycle.createPublished(owner);
    await lifecycle.archive(owner, id);
    expect(outcome(await approval.setApprovers(ada, id, [second]))).toEqual([400, 'document_archived']);
  });

  test('are asked by each request, with those of the request', async () => {
    const draft = await context.create(owner);
    await approval.setApprovers(ada, draft.id, [second]);
    const request = await approval.createRequest(owner, draft.id, [bystander, second]);
    expect(request.approvers.map(({ member_id }: { member_id: string }) => member_id)).toEqual([
      ...[second.id, bystander.id],
    ]);
  });

  test('who left stay in the list and block requests until it changes', async () => {
    const leaver = await context.member(ada);
    const draft = await context.create(owner);
    await approval.setApprovers(ada, draft.id, [leaver, second]);
    await context.app.request('DELETE', `/members/${leaver.id}`, { as: ada.as });
    const refused = await approval.submit(owner, draft.id);
    expect(refused.body.approvers).toEqual([{ member_id: leaver.id, reason: 'not_member' }]);
    expect(outcome(await lifecycle.publish(owner, draft.id))).toEqual([400, 'approval_missing']);
    expect((await lifecycle.get(owner, draft.id)).approver_ids).toEqual([leaver.id, second.id]);
    await approval.setApprovers(ada, draft.id, [second]);
    await approval.approve(second, await approval.createRequest(owner, draft.id));
    expect((await lifecycle.publish(owner, draft.id)).status).toBe(200);
  });
});

describe('without an approved request, a publish', () => {
  test('passes if no approval is needed', async () => {
    const { body } = await lifecycle.publish(owner, (await context.create(owner, tree)).id);
    expect(body).toMatchObject({ status: 'published', approval: null, approver_ids: [] });
  });

  test('fails if the document has approvers, for admins too', async () => {
    const draft = await context.create(ada, tree);
    await approval.setApprovers(ada, draft.id, [second]);
    expect(outcome(await lifecycle.publish(ada, draft.id))).toEqual([400, 'approval_missing']);
    await approval.setApprovers(ada, draft.id, []);
    expect((await lifecycle.publish(ada, draft.id)).status).toBe(200);
  });

  test('fails while a request is pending, and for every version on its own', async () => {
    const first = await lifecycle.createPublished(owner, tree);
    const [one, other] = [
      await lifecycle.createRevision(owner, first.id),
      await lifecycle.createRevision(owner, first.id),
    ];
    await approval.createRequest(owner, one.id, [second]);
    expect(outcome(await lifecycle.publish(ada, one.id))).toEqual([400, 'approval_missing']);
    expect((await lifecycle.publish(ada, other.id)).status).toBe(200);
  });

  test('fails if the organization requires approvals, from the change on', async () => {
    const admin = await context.admin();
    const approver = await context.member(admin);
    const draft = await context.create(admin, tree);
    const settings = await approval.require(admin, true);
    expect(settings.body.settings).toMatchObject({ approval_required: true, lock_published: false });
    expect(outcome(await lifecycle.publish(admin, draft.id))).toEqual([400, 'approval_missing']);
    await approval.approve(approver, await approval.createRequest(admin, draft.id, [approver]));
    expect((await lifecycle.publish(admin, draft.id)).status).toBe(200);
    const revision = await lifecycle.createRevision(admin, draft.id);
    expect(outcome(await lifecycle.publish(admin, revision.id))).toEqual([400, 'approval_missing']);
    await approval.require(admin, false);
    expect((await lifecycle.publish(admin, revision.id)).status).toBe(200);
  });

  test('fails first for the status, then for the approval, then for the quota', async () => {
    const admin = await context.admin();
    const approver = await context.member(admin);
    const { organization_id, id } = await lifecycle.createPublished(admin, tree);
    await lifecycle.setPlan(organization_id, 'trial');
    const [draft, approved] = [await context.create(admin), await context.create(admin)];
    await approval.approve(approver, await approval.createRequest(admin, approved.id, [approver]));
    await approval.setApprovers(admin, draft.id, [approver]);
    await approval.setApprovers(admin, id, [approver]);
    for (let left = 3; left > 0; left -= 1) {
      const { status } = await lifecycle.publish(admin, (await context.create(admin)).id);
      if (status === 402) break;
    }
    expect(outcome(await lifecycle.publish(admin, id))).toEqual([400, 'document_not_draft']);
    expect(outcome(await lifecycle.publish(admin, draft.id))).toEqual([400, 'approval_missing']);
    expect(outcome(await lifecycle.publish(admin, approved.id))).toEqual([402, 'publish_quota_exhausted']);
    expect(await lifecycle.get(admin, approved.id)).toMatchObject({ approval: { status: 'approved' } });
  });
});

describe('with an approved request, a publish', () => {
  test('fails if a new approver of the document has not approved it', async () => {
    const id = await createApproved([second]);
    await approval.setApprovers(ada, id, [second, bystander]);
    expect(outcome(await lifecycle.publish(owner, id))).toEqual([400, 'approval_missing']);
    await approval.setApprovers(ada, id, [second]);
    expect((await lifecycle.publish(owner, id)).status).toBe(200);
  });

  test('reuses the hash that was approved', async () => {
    const id = await createApproved([second]);
    const { content_hash } = await lifecycle.get(owner, id);
    const { body } = await lifecycle.publish(owner, id);
    expect(body.content_hash).toBe(content_hash);
    expect(await hashDocument(body)).toBe(content_hash);
  });
});

describe('a published version', () => {
  const rename = (member: TestMember, id: string) => context.request(member, 'PATCH', id, { title: 'Other' });

  test('is locked if the document has approvers', async () => {
    const id = await createApproved([second]);
    await lifecycle.publish(owner, id);
    await approval.setApprovers(ada, id, [second]);
    const locked = await rename(ada, id);
    expect(outcome(locked)).toEqual([400, 'document_locked']);
    expect(locked.body.title).toContain('it has approvers');
    await approval.setApprovers(ada, id, []);
    expect((await rename(ada, id)).body).toMatchObject({ content_hash: null, approval: null });
  });

  test('is locked if the organization requires approvals', async () => {
    const admin = await context.admin();
    const { id } = await lifecycle.createPublished(admin, tree);
    await approval.require(admin, true);
    expect(outcome(await rename(admin, id))).toEqual([400, 'document_locked']);
    const node = { node_type: 'section', title: 'B', order: 1 };
    expect(outcome(await context.request(admin, 'POST', `${id}/nodes`, node))).toEqual([
      400,
      'document_locked',
    ]);
  });

  test('loses approval and hash by an edit in place of a node', async () => {
    const id = await createApproved([second]);
    await lifecycle.publish(owner, id);
    const node = { node_type: 'section', title: 'B', order: 1 };
    await context.request(owner, 'POST', `${id}/nodes`, node);
    expect(await lifecycle.get(owner, id)).toMatchObject({ content_hash: null, approval: null });
  });

  test('keeps its approval when a revision replaces it', async () => {
    const id = await createApproved([second]);
    await lifecycle.publish(owner, id);
    const revision = await lifecycle.createRevision(owner, id);
    expect(revision).toMatchObject({ approval: null, content_hash: null });
    await lifecycle.publish(owner, revision.id);
    expect(await lifecycle.get(owner, id)).toMatchObject({
      ...{ status: 'archived', approval: { status: 'approved' } },
    });
    const { body } = await lifecycle.archive(owner, revision.id);
    expect(body).toMatchObject({ approval: null, approver_ids: [] });
  });
});
