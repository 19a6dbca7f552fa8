/** Tests reviewer, interval and confirmation of documents over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { until } from '#libs/testing';
import { services } from '../testing/services.ts';
import { Document } from './contract.ts';
import { outcome } from './testing/lifecycle.ts';
import { type LifecycleFixture, lifecycleFixture } from './testing/lifecycle-fixture.ts';
import { addMonthsToText, type ReviewClient, reviewClient } from './testing/reviews.ts';
import type { TestMember } from './testing/test-context.ts';

let { context, lifecycle, ada, owner, editor, bystander, stranger } = {} as LifecycleFixture;
let review: ReviewClient;
let reviewer: TestMember;

beforeAll(async () => {
  ({ context, lifecycle, ada, owner, editor, bystander, stranger } = await lifecycleFixture(services));
  review = reviewClient(context, lifecycle);
  reviewer = await context.member(ada);
});
afterAll(() => context?.app.stop());

const tree = { title: 'SOP', nodes: [{ node_type: 'section', title: 'A' }] };
const getReview = async (id: string, member = ada) => (await lifecycle.get(member, id)).review;

/** Creates a published document of the owner with a reviewer and an interval of a year. */
async function createReviewed() {
  const { id } = await lifecycle.createPublished(owner, tree);
  return (await review.set(owner, id, { reviewer_id: reviewer.id, every_months: 12 })).body;
}

describe('updateReview', () => {
  test('sets reviewer and interval, and a published version is then due', async () => {
    const document = await lifecycle.createPublished(owner, tree);
    expect(document.review).toBeNull();
    const body = { reviewer_id: reviewer.id, every_months: 12 };
    const response = await review.set(owner, document.id, body, { 'if-match': '"2"' });
    expect([response.status, response.headers.get('etag')]).toEqual([200, '"3"']);
    expect(Document.parse(response.body)).toEqual({
      ...document,
      review: { ...body, due_at: addMonthsToText(document.published_at, 12), reviewed_at: null },
      updated_at: response.body.updated_at,
    });
    expect(await lifecycle.get(ada, document.id)).toEqual(response.body);
    const { nodes: _, ...summary } = response.body;
    const event = (await lifecycle.publishedEvents(document.id)).at(-1);
    expect([event?.type, event?.data, event?.actor_id]).toEqual([
      'document.review_updated',
      { document: summary, before: { reviewer_id: null, every_months: null } },
      owner.id,
    ]);
  });

  test('changes only the fields of the request, and null removes them', async () => {
    const { id, published_at } = await createReviewed();
    await review.set(ada, id, { every_months: 1 });
    const due_at = addMonthsToText(published_at, 1);
    expect(await getReview(id)).toMatchObject({ reviewer_id: reviewer.id, every_months: 1, due_at });
    await review.set(ada, id, { reviewer_id: null });
    expect(await getReview(id)).toMatchObject({ reviewer_id: null, every_months: 1, due_at });
    await review.set(ada, id, { every_months: null });
    expect(await getReview(id)).toBeNull();
  });

  test('changes nothing and publishes no event for the same values', async () => {
    const { id } = await createReviewed();
    const before = await lifecycle.get(ada, id);
    const events = await lifecycle.publishedEvents(id);
    for (const body of [{ every_months: 12 }, { reviewer_id: reviewer.id }]) {
      const response = await review.set(owner, id, body);
      expect([response.headers.get('etag'), response.body]).toEqual(['"3"', before]);
    }
    expect(await lifecycle.publishedEvents(id)).toEqual(events);
    await review.set(owner, id, { every_months: 6 });
    const [event] = (await lifecycle.publishedEvents(id)).slice(events.length);
    expect(event?.data.before).toEqual({ reviewer_id: reviewer.id, every_months: 12 });
  });

  test('belongs to all versions, but only the published one is due', async () => {
    const { id } = await createReviewed();
    const draft = await lifecycle.createRevision(owner, id);
    const policy = { reviewer_id: reviewer.id, every_months: 12 };
    expect(draft.review).toEqual({ ...policy, due_at: null, reviewed_at: null });
    const before = await getReview(id);
    const { body } = await review.set(owner, draft.id, { every_months: 24 });
    expect(body.review).toEqual({ ...draft.review, every_months: 24 });
    const { published_at } = await lifecycle.get(ada, id);
    const due_at = addMonthsToText(published_at, 24);
    expect(await getReview(id)).toEqual({ ...before, every_months: 24, due_at });
    await context.request(owner, 'PATCH', draft.id, { version: '2' });
    const { body: published } = await lifecycle.publish(owner, draft.id);
    expect(published.review.due_at).toBe(addMonthsToText(published.published_at, 24));
    expect(await getReview(id)).toEqual({ ...before, every_months: 24, due_at: null });
  });

  test('a duplicate has no review, a restored version has', async () => {
    const { id } = await createReviewed();
    const copy = await context.request(owner, 'POST', `${id}/duplicate`);
    expect(copy.body.review).toBeNull();
    await lifecycle.archive(owner, id);
    expect(await getReview(id)).toMatchObject({ every_months: 12, due_at: null });
    const restored = await context.request(owner, 'POST', `${id}/restore`);
    expect(restored.body.review).toMatchObject({ reviewer_id: reviewer.id, every_months: 12 });
  });

  test('is for the owner and admins, and not for archived documents', async () => {
    const { id } = await createReviewed();
    const body = { every_months: 6 };
    for (const member of [editor, reviewer, bystander])
      expect(outcome(await review.set(member, id, body))).toEqual([403, 'forbidden']);
    expect((await review.set(stranger, id, body)).status).toBe(404);
    expect((await review.set(owner, id, body, { 'if-match': '"1"' })).status).toBe(412);
    await lifecycle.archive(owner, id);
    expect(outcome(await review.set(owner, id, body))).toEqual([400, 'document_archived']);
  });

  test('rejects invalid intervals, reviewers and times', async () => {
    const { id } = await createReviewed();
    const before = await lifecycle.get(ada, id);
    for (const body of [
      ...[0, 61, 1.5, -1, '12', true].map((every_months) => ({ every_months })),
      ...['nobody', 7, ''].map((reviewer_id) => ({ reviewer_id })),
      ...[{}, { due_at: before.published_at }, null],
    ])
      expect(outcome(await review.set(owner, id, body))).toEqual([400, 'invalid_request']);
    for (const reviewer_id of [newId(), stranger.id])
      expect(outcome(await review.set(owner, id, { reviewer_id }))).toEqual([400, 'reviewer_not_member']);
    expect(await lifecycle.get(ada, id)).toEqual(before);
    for (const time of ['2027-01-31T12:00:00', '2027-01-31', 'soon', '2027-02-30T12:00:00Z'])
      for (const path of ['', '/counts'])
        expect(
          (
            await context.app.request('GET', `/documents${path}?review_due_before=${time}`, {
              as: ada.as,
            })
          ).body.errors,
        ).toMatchObject([{ path: 'query/review_due_before' }]);
  });
});

describe('confirmReview', () => {
  test('sets the review time and the next due time, and changes no content', async () => {
    const before = await createReviewed();
    const comment = 'Tried it.';
    const { status, body, headers } = await review.confirm(reviewer, before.id, { comment });
    expect([status, headers.get('etag')]).toEqual([200, '"4"']);
    const { reviewed_at } = body.review;
    expect(body).toEqual({
      ...before,
      review: { ...before.review, reviewed_at, due_at: addMonthsToText(reviewed_at, 12) },
      updated_at: reviewed_at,
    });
    expect(await lifecycle.get(ada, before.id)).toEqual(body);
    expect(body.content_hash).toEqual(expect.any(String));
  });

  test('needs a person who is reviewer, owner or admin', async () => {
    const { id } = await createReviewed();
    // the key of the admin
    expect(outcome(await review.confirm(ada, id))).toEqual([403, 'person_required']);
    for (const member of [editor, bystander])
      expect(outcome(await review.confirm(member, id))).toEqual([403, 'forbidden']);
    for (const member of [reviewer, owner]) expect((await review.confirm(member, id)).status).toBe(200);
  });

  test('works without reviewer and interval', async () => {
    const { id } = await lifecycle.createPublished(owner);
    const { body } = await review.confirm(owner, id);
    const { reviewed_at } = body.review;
    expect(body.review).toEqual({ reviewer_id: null, every_months: null, due_at: null, reviewed_at });
    await review.set(owner, id, { every_months: 3 });
    expect((await getReview(id)).due_at).toBe(addMonthsToText(reviewed_at, 3));
  });

  test('a new version starts without a review', async () => {
    const { id } = await createReviewed();
    await review.confirm(reviewer, id);
    const { reviewed_at } = await getReview(id);
    const draft = await lifecycle.createRevision(owner, id);
    expect(draft.review.reviewed_at).toBeNull();
    const { body } = await lifecycle.publish(owner, draft.id);
    const due_at = addMonthsToText(body.published_at, 12);
    expect(body.review).toEqual({ reviewer_id: reviewer.id, every_months: 12, due_at, reviewed_at: null });
    // what happened to the version before stays in its history
    expect(await getReview(id)).toMatchObject({ reviewed_at, due_at: null });
  });

  test('confirms only published versions, and what the caller has read', async () => {
    const { id } = await createReviewed();
    const draft = await lifecycle.createRevision(owner, id);
    expect(outcome(await review.confirm(owner, draft.id))).toEqual([400, 'document_not_published']);
    expect((await review.confirm(owner, id, {}, { 'if-match': '"1"' })).status).toBe(412);
    for (const body of [{ comment: 'x'.repeat(2_001) }, { comment: 7 }, { reviewed_at: 'now' }, []])
      expect(outcome(await review.confirm(owner, id, body))).toEqual([400, 'invalid_request']);
    await lifecycle.archive(owner, id);
    expect(outcome(await review.confirm(owner, id))).toEqual([400, 'document_not_published']);
    expect(await getReview(id)).toMatchObject({ reviewed_at: null });
  });
});

test('a reviewer who leaves is cleared from all versions, the interval stays', async () => {
  const leaver = await context.member(ada);
  const { id } = await createReviewed();
  await review.set(owner, id, { reviewer_id: leaver.id });
  const draft = await lifecycle.createRevision(owner, id);
  await context.app.request('DELETE', `/members/${leaver.id}`, { as: ada.as });
  for (const one of [id, draft.id])
    await until('no reviewer', async () => (await getReview(one)).reviewer_id === null);
  expect(await getReview(id)).toMatchObject({ every_months: 12, due_at: expect.any(String) });
  expect(outcome(await review.set(owner, id, { reviewer_id: leaver.id }))).toEqual([
    400,
    'reviewer_not_member',
  ]);
});

test('the list selects and sorts by the due time', async () => {
  const admin = await context.admin();
  const created = [];
  for (const every_months of [2, null, 1, 3]) {
    const { id } = await lifecycle.createPublished(admin, { title: `${every_months}` });
    if (every_months) await review.set(admin, id, { every_months });
    created.push(id);
  }
  const get = async (path: string) => (await context.app.request('GET', path, { as: admin.as })).body;
  const getTitles = async (query: string) =>
    (await get(`/documents?${query}`)).map(({ title }: { title: string }) => title);
  expect(await getTitles('sort=review_due_at')).toEqual(['null', '1', '2', '3']);
  expect(await getTitles('sort=-review_due_at')).toEqual(['3', '2', '1', 'null']);
  const { due_at } = await getReview(created[3] ?? '', admin);
  for (const sort of ['review_due_at', 'title'])
    expect(await getTitles(`review_due_before=${due_at}&sort=${sort}`)).toEqual(['1', '2']);
  expect(await getTitles(`review_due_before=${due_at}&created_by=${admin.id}`)).toEqual(['1', '2']);
  expect(await get(`/documents/counts?review_due_before=${due_at}`)).toMatchObject({
    published: 2,
    total: 2,
  });
});
