/** Tests the notices about reviews over HTTP with a real MongoDB and a clock that the tests advance. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMember, httpClient, until } from '#libs/testing';
import { DocumentSummary } from './contract.ts';
import { type LifecycleClient, lifecycleClient } from './testing/lifecycle.ts';
import { type ReviewClient, reviewClient } from './testing/reviews.ts';
import type { TestMember } from './testing/test-context.ts';
import { type ClockedContext, openClockedContext } from './testing/update-events.ts';

const dayMs = 86_400_000;

let context: ClockedContext;
let lifecycle: LifecycleClient;
let review: ReviewClient;
let ada: TestMember;

beforeAll(async () => {
  context = await openClockedContext(Date.parse('2027-01-31T09:30:00.000Z'));
  lifecycle = lifecycleClient(context);
  review = reviewClient(context, lifecycle);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

/** Creates a document that is due in some months. */
async function createDue(every_months = 1) {
  const { id } = await lifecycle.createPublished(ada);
  const { body } = await review.set(ada, id, { every_months });
  return {
    id,
    due: body.review.due_at as string,
    msLeft: Date.parse(body.review.due_at) - Number(context.now()),
  };
}

test('a notice is published 14 days before the review and when it is due', async () => {
  const { id, due, msLeft } = await createDue();
  await context.advance(msLeft - 14 * dayMs - 1);
  expect(await review.notices(id)).toEqual([]);
  const before = await context.request(ada, 'GET', id);
  await context.advance(1);
  expect(await review.notices(id)).toEqual([`${due} 14`]);
  await context.advance(14 * dayMs - 1);
  expect(await review.notices(id)).toEqual([`${due} 14`]);
  await context.advance(1);
  expect(await review.notices(id)).toEqual([`${due} 14`, `${due} 0`]);
  await context.advance(400 * dayMs);
  expect(await review.notices(id)).toHaveLength(2);
  // the ETag and the document do not change, and the document stays published
  const after = await context.request(ada, 'GET', id);
  expect([after.headers.get('etag'), after.body]).toEqual([before.headers.get('etag'), before.body]);
  const { nodes: _, ...summary } = after.body;
  const event = (await lifecycle.publishedEvents(id)).at(-1);
  expect(event).toMatchObject({ type: 'document.review_due', occurred_at: due, actor_id: null });
  expect(event?.data).toEqual({ document: summary, days_left: 0 });
  expect(DocumentSummary.parse(event?.data.document)).toEqual(summary);
});

test('after an outage, only the latest notice is published', async () => {
  const { id, due, msLeft } = await createDue();
  await context.advance(msLeft + dayMs);
  expect(await review.notices(id)).toEqual([`${due} 0`]);
});

test('a confirmed document is due again later', async () => {
  const { id, due, msLeft } = await createDue();
  await context.advance(msLeft - dayMs);
  const { token } = await addMember(context.app, ada.as, { role: 'admin' });
  const { body } = await review.confirm({ ...ada, as: token }, id);
  await context.advance(dayMs);
  expect(await review.notices(id)).toEqual([`${due} 14`]);
  const next = Date.parse(body.review.due_at) - Number(context.now());
  await context.advance(next);
  expect(await review.notices(id)).toEqual([`${due} 14`, `${body.review.due_at} 0`]);
});

test('a new interval counts from the publication, and no notice is repeated', async () => {
  const { id, due, msLeft } = await createDue(2);
  await context.advance(msLeft - 14 * dayMs);
  // due at once
  const shorter = (await review.set(ada, id, { every_months: 1 })).body.review.due_at;
  await context.advance(0);
  expect(await review.notices(id)).toEqual([`${due} 14`, `${shorter} 0`]);
  for (const every_months of [2, null, 1, 2]) {
    await review.set(ada, id, { every_months });
    await context.advance(0);
  }
  expect(await review.notices(id)).toHaveLength(2);
  await context.advance(14 * dayMs);
  expect(await review.notices(id)).toEqual([`${due} 14`, `${shorter} 0`, `${due} 0`]);
});

test('drafts, archived and replaced versions get no notice', async () => {
  const [archived, replaced] = [await createDue(), await createDue()];
  const draft = await lifecycle.createRevision(ada, archived.id);
  await lifecycle.archive(ada, archived.id);
  const { id } = await lifecycle.createRevision(ada, replaced.id);
  await context.advance(dayMs);
  await lifecycle.publish(ada, id);
  await context.advance(archived.msLeft);
  for (const none of [archived.id, replaced.id, draft.id]) expect(await review.notices(none)).toEqual([]);
  expect(await review.notices(id)).toHaveLength(1);
});

test('a notice that cannot be written for a while is published later', async () => {
  const { id, due, msLeft } = await createDue();
  // the event schema rejects this creator, so the publish fails after the notice is claimed
  await context.set(id, { created_by: 'nobody' });
  const advanced = context.advance(msLeft);
  const message = `Could not publish the review event of document ${id}`;
  await until('the error', async () => context.app.logLines().some(({ msg }) => msg === message));
  expect((await context.row(id))?.review_notices).toBeUndefined();
  await context.set(id, { created_by: ada.id });
  await advanced;
  expect(await review.notices(id)).toEqual([`${due} 0`]);
});

test('several replicas publish each notice once, and count it', async () => {
  const { management } = await context.app.replica();
  const due = await Promise.all(Array.from({ length: 24 }, () => createDue()));
  const origins = [context.app.management, management];
  const count = async () => {
    const pages = await Promise.all(origins.map((origin) => httpClient(origin).request('GET', '/metrics')));
    const texts = pages.map(({ bytes }) => Buffer.from(bytes).toString());
    const found = texts.flatMap((text) => [...text.matchAll(/^review_notices_total\{.*"0".*\} (\d+)$/gm)]);
    return found.reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const before = await count();
  await context.advance(due[0]?.msLeft ?? 0);
  expect(await Promise.all(due.map(({ id }) => review.notices(id)))).toEqual(
    due.map((one) => [`${one.due} 0`]),
  );
  // a notice is counted after its transaction, when it is no longer due
  await until('all notices to be counted', async () => (await count()) - before >= 24);
  expect((await count()) - before).toBe(24);
});
