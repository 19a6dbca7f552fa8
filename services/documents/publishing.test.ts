/** Tests publishing and archiving over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../testing/services.ts';
import { webhookDeliveryContract } from '../webhook-delivery/contract.ts';
import { Document, DocumentSummary } from './contract.ts';
import { documents } from './service.ts';
import { ArchiveRecord } from './shapes.ts';
import { outcome } from './testing/lifecycle.ts';
import { type LifecycleFixture, lifecycleFixture } from './testing/lifecycle-fixture.ts';

let { context, lifecycle, ada, owner, editor, bystander, stranger } = {} as LifecycleFixture;

beforeAll(async () => {
  ({ context, lifecycle, ada, owner, editor, bystander, stranger } = await lifecycleFixture(
    [identity, documents],
    { PUBLISH_LIMIT_TRIAL: '2' },
  ));
});
afterAll(() => context?.app.stop());

describe('publishDocument', () => {
  test('publishDocument publishes a draft once', async () => {
    const draft = await context.create(ada, { title: 'T', nodes: [{ node_type: 'section', title: 'S' }] });
    const { status, body, headers } = await lifecycle.publish(ada, draft.id);
    expect([status, headers.get('etag')]).toEqual([200, '"2"']);
    const { published_at, updated_at, content_hash } = Document.parse(body);
    expect(published_at).toBe(updated_at);
    expect(content_hash).not.toBeNull();
    expect(body).toEqual({ ...draft, status: 'published', published_at, updated_at, content_hash });
    expect(await lifecycle.get(ada, draft.id)).toEqual(body);
    expect(outcome(await lifecycle.publish(ada, draft.id))).toEqual([400, 'document_not_draft']);
    expect(await lifecycle.countPublished(draft.id)).toBe(1);
  });

  test('document.published contains the published document without nodes', async () => {
    const { nodes: _, ...summary } = await lifecycle.createPublished(ada, {
      title: 'T',
      nodes: [{ node_type: 'section', title: 'S' }],
    });
    const [event, ...others] = await lifecycle.publishedEvents(summary.id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'document.published',
      organization_id: summary.organization_id,
      actor_id: ada.id,
    });
    expect(event?.data).toEqual({ document: summary });
    expect(DocumentSummary.parse(event?.data.document)).toEqual(summary);
    expect(webhookDeliveryContract.consumes.map(({ name }) => name)).toContain('document.published');
  });

  test('publishDocument allows the owner and an admin', async () => {
    const draft = await context.create(owner);
    await context.set(draft.id, { editor_id: editor.id });
    for (const member of [editor, bystander])
      expect(outcome(await lifecycle.publish(member, draft.id))).toEqual([403, 'forbidden']);
    expect(outcome(await lifecycle.publish(stranger, draft.id))).toEqual([404, 'not_found']);
    expect((await lifecycle.publish(owner, draft.id)).status).toBe(200);
    expect((await lifecycle.publish(ada, (await context.create(owner)).id)).status).toBe(200);
  });

  test('publishDocument checks access, If-Match, status, then quota', async () => {
    const bo = await context.admin();
    const { id, organization_id } = await context.create(bo);
    await lifecycle.setPlan(organization_id, 'trial');
    for (let at = 0; at < 2; at += 1) await lifecycle.createPublished(bo);
    const stale = { 'if-match': '"0"' };
    expect(outcome(await lifecycle.publish(stranger, id, stale))[0]).toBe(404);
    expect(outcome(await lifecycle.publish(bystander, (await context.create(ada)).id, stale))[0]).toBe(403);
    expect(outcome(await lifecycle.publish(bo, id, stale))).toEqual([412, 'precondition_failed']);
    expect(outcome(await lifecycle.publish(bo, id, { 'if-match': '"1"' }))[0]).toBe(402);
    await context.set(id, { status: 'archived' });
    expect(outcome(await lifecycle.publish(bo, id))).toEqual([400, 'document_not_draft']);
  });

  test('publishDocument with one Idempotency-Key publishes once', async () => {
    const draft = await context.create(ada);
    const headers = { 'idempotency-key': newId() };
    const first = await lifecycle.publish(ada, draft.id, headers);
    const second = await lifecycle.publish(ada, draft.id, headers);
    expect([first.status, second.status, second.headers.get('idempotency-replayed')]).toEqual([
      200,
      200,
      'true',
    ]);
    expect(second.body).toEqual(first.body);
    expect([
      await lifecycle.countPublished(draft.id),
      (await lifecycle.publishedEvents(draft.id)).length,
    ]).toEqual([1, 1]);
  });

  test('a stored response is replayed only while the caller is authorized', async () => {
    const draft = await context.create(owner);
    const headers = { 'idempotency-key': newId() };
    const node = { node_type: 'section', title: 'S', order: 0 };
    const add = () => context.request(owner, 'POST', `${draft.id}/nodes`, node, headers);
    const publish = () => lifecycle.publish(owner, draft.id, headers);
    expect([(await add()).status, (await publish()).status]).toEqual([201, 200]);
    expect((await publish()).headers.get('idempotency-replayed')).toBe('true');
    await context.set(draft.id, { created_by: newId() });
    expect([(await add()).status, (await publish()).status]).toEqual([403, 403]);
    await context.app.db.collection<{ _id: string }>('documents').deleteOne({ _id: draft.id });
    expect((await publish()).status).toBe(404);
  });
});

describe('the quota', () => {
  test('concurrent publishes use the quota exactly, and 402 changes nothing', async () => {
    const bo = await context.admin();
    const drafts = await Promise.all(Array.from({ length: 6 }, () => context.create(bo)));
    const { organization_id } = drafts[0];
    await lifecycle.setPlan(organization_id, 'trial');
    const responses = await Promise.all(drafts.map(({ id }) => lifecycle.publish(bo, id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 402, 402, 402, 402]);
    const refused = responses.flatMap(({ status }, at) => (status === 402 ? [drafts[at]] : []));
    expect(responses.find(({ status }) => status === 402)?.body).toMatchObject({
      code: 'publish_quota_exhausted',
      publish_limit: 2,
      renews_at: null,
      detail: expect.stringContaining('they do not renew; ask the operator for a larger plan.'),
    });
    const subscription = await context.app.request('GET', '/organization/subscription', { as: bo.as });
    const terms = { plan: 'trial', publish_limit: 2, publish_used: 2, renews_at: null };
    expect(subscription.body).toEqual({ ...terms, storage: expect.any(Object) });
    for (const draft of refused) expect(await lifecycle.get(bo, draft.id)).toEqual(draft);
    expect(await lifecycle.publishedEvents(...refused.map(({ id }) => id))).toEqual([]);

    await lifecycle.setPlan(organization_id, 'scale');
    for (const { id } of refused) expect((await lifecycle.publish(bo, id)).status).toBe(200);
  });

  test('the first publish of a limited plan succeeds with a key', async () => {
    const admin = await context.admin();
    const { body } = await context.app.request('GET', '/organization', { as: admin.as });
    await lifecycle.setPlan(body.id, 'trial');
    const { id } = await context.create(admin);
    const headers = { 'idempotency-key': newId() };
    const [first, repeated] = [
      await context.request(admin, 'POST', `${id}/publish`, undefined, headers),
      await context.request(admin, 'POST', `${id}/publish`, undefined, headers),
    ];
    expect([first.status, repeated.status]).toEqual([200, 200]);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect(await lifecycle.countPublished(id)).toBe(1);
  });

  test('publishes under an unlimited plan count against a later limit', async () => {
    const bo = await context.admin();
    const { id, organization_id } = await context.create(bo, { title: 'one too many' });
    for (const plan of ['trial', 'scale']) {
      await lifecycle.setPlan(organization_id, plan);
      await lifecycle.createPublished(bo);
    }
    for (const plan of ['trial', 'scale', 'trial']) {
      await lifecycle.setPlan(organization_id, plan);
      if (plan === 'trial') expect((await lifecycle.publish(bo, id)).status).toBe(402);
    }
  });

  test('a revision rejected with 402 leaves the original published', async () => {
    const bo = await context.admin();
    const original = await lifecycle.createPublished(bo);
    await lifecycle.setPlan(original.organization_id, 'trial');
    const revision = await lifecycle.createRevision(bo, original.id);
    await lifecycle.createPublished(bo);
    expect(outcome(await lifecycle.publish(bo, revision.id))[0]).toBe(402);
    expect(await lifecycle.get(bo, original.id)).toEqual(original);
    expect((await lifecycle.get(bo, revision.id)).status).toBe('draft');
    expect(await lifecycle.countPublished(revision.id)).toBe(0);
  });
});

describe('publishing a revision', () => {
  test('a published revision archives the original and publishes one event', async () => {
    const original = await lifecycle.createPublished(ada, { title: 'T', version: '1' });
    const draft = await lifecycle.createRevision(ada, original.id);
    const { status, body } = await lifecycle.publish(ada, draft.id);
    expect([status, body.status, body.parent_doc_id]).toEqual([200, 'published', original.id]);
    const before = await lifecycle.get(ada, original.id);
    expect(before).toEqual({
      ...original,
      status: 'archived',
      archived_at: body.published_at,
      updated_at: body.published_at,
    });
    const events = await lifecycle.publishedEvents(original.id, draft.id);
    expect(events.map(({ type, data }) => [type, data.document.id])).toEqual([
      ['document.published', original.id],
      ['document.revised', draft.id],
    ]);
    const { nodes: _, ...summary } = body;
    expect(events[1]?.data).toEqual({ document: summary });
    expect(await lifecycle.countPublished(original.id, draft.id)).toBe(2);
  });

  test('a published revision changes the ETag of the original', async () => {
    const original = await lifecycle.createPublished(ada);
    const known = { 'if-none-match': '"2"' };
    const draft = await lifecycle.createRevision(ada, original.id);
    expect((await context.request(ada, 'GET', original.id, undefined, known)).status).toBe(304);
    await lifecycle.publish(ada, draft.id);
    const after = await context.request(ada, 'GET', original.id, undefined, known);
    expect([after.status, after.headers.get('etag')]).toEqual([200, '"3"']);
  });

  test('a published revision archives the version that is published then', async () => {
    const first = await lifecycle.createPublished(ada);
    const [second, third] = [
      await lifecycle.createRevision(ada, first.id),
      await lifecycle.createRevision(ada, first.id),
    ];
    await lifecycle.publish(ada, second.id);
    await lifecycle.publish(ada, third.id);
    const states = await Promise.all([first, second, third].map(({ id }) => lifecycle.get(ada, id)));
    expect(states.map(({ status }) => status)).toEqual(['archived', 'archived', 'published']);
    expect((await lifecycle.publishedEvents(third.id)).map(({ type }) => type)).toEqual(['document.revised']);
  });

  test('a published revision may keep the version of its original', async () => {
    const original = await lifecycle.createPublished(ada, { title: 'T', version: '1' });
    const draft = await lifecycle.createRevision(ada, original.id);
    expect((await lifecycle.publish(ada, draft.id)).body.version).toBe('1');
  });

  test('a published revision leaves other families unchanged', async () => {
    const [original, other, foreign] = [
      await lifecycle.createPublished(ada),
      await lifecycle.createPublished(ada),
      await lifecycle.createPublished(stranger),
    ];
    await lifecycle.publish(ada, (await lifecycle.createRevision(ada, original.id)).id);
    expect(await lifecycle.get(ada, other.id)).toEqual(other);
    expect(await lifecycle.get(stranger, foreign.id)).toEqual(foreign);
  });
});

describe('archiveDocument', () => {
  test('archiveDocument returns the record and makes the document read-only', async () => {
    const nodes = [{ node_type: 'section', title: 'S' }];
    const document = await lifecycle.createPublished(ada, {
      title: 'T',
      version: '1',
      department: 'D',
      language: 'nl',
      nodes,
    });
    const { status, body, headers } = await lifecycle.archive(ada, document.id);
    expect([status, headers.get('etag')]).toEqual([200, '"3"']);
    const { nodes: _, status: _s, editor_id: _e, parent_doc_id: _p, ...rest } = document;
    const { archived_at } = ArchiveRecord.parse(body);
    expect(body).toEqual({ ...rest, archived_at, updated_at: archived_at });
    const after = await lifecycle.get(ada, document.id);
    expect(after).toEqual({ ...document, status: 'archived', archived_at, updated_at: archived_at });
    const { nodes: _n, ...summary } = after;
    const [, event, ...more] = await lifecycle.publishedEvents(document.id);
    expect([event?.type, event?.data, event?.actor_id, more]).toEqual([
      'document.archived',
      { document: summary },
      ada.id,
      [],
    ]);
    for (const [method, path, change] of [
      ['PATCH', '', { title: 'x' }],
      ['PATCH', '/editor', { editor_id: null }],
      ['POST', '/nodes', { node_type: 'section', title: 'x', order: 0 }],
    ] as const)
      expect(outcome(await context.request(ada, method, document.id + path, change))).toEqual([
        400,
        'document_archived',
      ]);
  });

  test('archiveDocument accepts only published documents', async () => {
    const draft = await context.create(ada);
    expect(outcome(await lifecycle.archive(ada, draft.id))).toEqual([400, 'document_not_published']);
    await lifecycle.publish(ada, draft.id);
    expect((await lifecycle.archive(ada, draft.id)).status).toBe(200);
    expect(outcome(await lifecycle.archive(ada, draft.id))).toEqual([400, 'document_not_published']);
    expect(outcome(await lifecycle.publish(ada, draft.id))).toEqual([400, 'document_not_draft']);
    expect(outcome(await lifecycle.revise(ada, draft.id))).toEqual([400, 'document_not_published']);
  });

  test('archiveDocument keeps an open draft, which is published as a revision', async () => {
    const original = await lifecycle.createPublished(ada);
    const draft = await lifecycle.createRevision(ada, original.id);
    await lifecycle.archive(ada, original.id);
    expect(await lifecycle.get(ada, draft.id)).toEqual(draft);
    const archived = await lifecycle.get(ada, original.id);
    expect((await lifecycle.publish(ada, draft.id)).status).toBe(200);
    expect(await lifecycle.get(ada, original.id)).toEqual(archived);
    expect((await lifecycle.publishedEvents(original.id, draft.id)).map(({ type }) => type)).toEqual([
      'document.published',
      'document.archived',
      'document.revised',
    ]);
  });

  test('archiveDocument allows owner and admin and checks 412 before status', async () => {
    const { id } = await lifecycle.createPublished(owner);
    await context.set(id, { editor_id: editor.id });
    expect(outcome(await lifecycle.archive(editor, id))).toEqual([403, 'forbidden']);
    expect(outcome(await lifecycle.archive(stranger, id))).toEqual([404, 'not_found']);
    expect(outcome(await lifecycle.archive(owner, id, { 'if-match': '"1"' }))[0]).toBe(412);
    expect((await lifecycle.archive(owner, id, { 'if-match': '"2"' })).status).toBe(200);
    expect(outcome(await lifecycle.archive(owner, id, { 'if-match': '"1"' }))[0]).toBe(412);
  });

  test('archiveDocument with an Idempotency-Key can be repeated', async () => {
    const { id } = await lifecycle.createPublished(ada);
    const headers = { 'idempotency-key': newId() };
    const [first, second] = [
      await lifecycle.archive(ada, id, headers),
      await lifecycle.archive(ada, id, headers),
    ];
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect((await lifecycle.publishedEvents(id)).map(({ type }) => type)).toEqual([
      'document.published',
      'document.archived',
    ]);
  });
});
