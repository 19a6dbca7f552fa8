/** Tests requests about reviews that race each other, or the worker, at two replicas, 200 times each. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addMember, describeOutcome, runRounds, sendBoth } from '#libs/testing';
import { findBroken } from './testing/broken-invariants.ts';
import { type LifecycleClient, lifecycleClient } from './testing/lifecycle.ts';
import { addMonthsToText, type ReviewClient, reviewClient } from './testing/reviews.ts';
import { type TestContext, type TestMember, testContextFor } from './testing/test-context.ts';
import { type ClockedContext, openClockedContext } from './testing/update-events.ts';

/** Time for rounds of many requests on a busy machine, in milliseconds. */
const timeoutMs = 600_000;
const dayMs = 86_400_000;

/** A replica with its clients. */
interface Replica {
  lifecycle: LifecycleClient;
  review: ReviewClient;
}

let context: ClockedContext;
let replicas: [Replica, Replica];
/** An admin with an API key and an access token. */
let ada: TestMember;
let person: TestMember;

function toReplica(one: TestContext): Replica {
  const lifecycle = lifecycleClient(one);
  return { lifecycle, review: reviewClient(one, lifecycle) };
}

beforeAll(async () => {
  context = await openClockedContext();
  const other = testContextFor({ ...context.app, ...(await context.app.replica()) });
  replicas = [toReplica(context), toReplica(other)];
  ada = await context.admin();
  person = await logIn();
});
afterAll(() => context?.app.stop());

/** Adds an admin. Access tokens expire after some minutes of the clock. */
async function logIn(): Promise<TestMember> {
  const { token, userId } = await addMember(context.app, ada.as, { role: 'admin' });
  return { as: token, id: userId };
}

/** Returns the replicas; every other round, in the other order. */
const inTurn = (round: number) => (round % 2 === 0 ? replicas : ([replicas[1], replicas[0]] as const));
const getReview = async (id: string) => (await replicas[0].lifecycle.get(ada, id)).review;

async function createReviewed(every_months: number) {
  const document = await replicas[0].lifecycle.createPublished(ada);
  return (await replicas[0].review.set(ada, document.id, { every_months })).body;
}

describe('as if in some order', () => {
  test(
    'a confirmation and the publish of a revision',
    async () => {
      const results = await runRounds(async (round) => {
        const { id } = await createReviewed(12);
        const draft = await replicas[0].lifecycle.createRevision(ada, id);
        const [one, other] = inTurn(round);
        const outcomes = await sendBoth(
          round,
          () => one.review.confirm(person, id),
          () => other.lifecycle.publish(ada, draft.id),
        );
        const outcome = outcomes.map(describeOutcome).join(', ');
        const [before, after] = [await getReview(id), await getReview(draft.id)];
        expect(before.due_at).toBeNull();
        expect(before.reviewed_at === null).toBe(outcome !== '200, 200');
        // the new version starts again
        const { published_at } = await replicas[0].lifecycle.get(ada, draft.id);
        expect(after).toMatchObject({ reviewed_at: null, due_at: addMonthsToText(published_at, 12) });
        return outcome;
      });
      expect([...results.keys()].sort()).toEqual(['200, 200', '400 document_not_published, 200']);
    },
    timeoutMs,
  );

  test(
    'a confirmation and a new interval',
    async () => {
      await runRounds(async (round) => {
        const { id } = await createReviewed(12);
        const [one, other] = inTurn(round);
        const outcomes = await sendBoth(
          round,
          () => one.review.confirm(person, id),
          () => other.review.set(ada, id, { every_months: 5 }),
        );
        expect(outcomes.map(describeOutcome)).toEqual(['200', '200']);
        const { reviewed_at, due_at } = await getReview(id);
        expect(due_at).toBe(addMonthsToText(reviewed_at, 5));
        return '';
      });
    },
    timeoutMs,
  );

  test(
    'a revision and a new interval: the revision has the new interval',
    async () => {
      await runRounds(async (round) => {
        const { id } = await createReviewed(12);
        const [one, other] = inTurn(round);
        const [revised, changed] = await Promise.all([
          one.lifecycle.revise(ada, id),
          other.review.set(ada, id, { every_months: 5 }),
        ]);
        expect([revised.status, changed.status]).toEqual([201, 200]);
        expect(await getReview(revised.body.id)).toMatchObject({ every_months: 5, due_at: null });
        return '';
      });
    },
    timeoutMs,
  );
});

test(
  'a new interval and the worker: notices fit their moment, each once',
  async () => {
    const results = new Map<string, number>();
    for (let batch = 0; batch < 10; batch += 1) {
      const documents = await Promise.all(Array.from({ length: 20 }, () => createReviewed(1)));
      const due = documents.map(({ review }) => review.due_at);
      const last = due.toSorted().at(-1);
      const change = async (id: string, index: number): Promise<string> => {
        const { review } = replicas[index % 2] ?? replicas[0];
        const { status, body } = await review.set(ada, id, { every_months: 2 });
        if (status !== 200) throw new Error(JSON.stringify(body));
        return body.review.due_at;
      };
      const before = await Promise.all(documents.slice(0, 2).map(({ id }, index) => change(id, index)));
      // the workers publish while the intervals change
      const published = context.advance(Date.parse(last) - Number(context.now()) - (batch % 2) * dayMs);
      const changes = documents.slice(2).map(async ({ id }, index) => {
        // those of the last two certainly change after the workers came
        if (index >= 16) await published;
        else await new Promise((resolve) => setTimeout(resolve, Math.random() * 1_200));
        return change(id, index);
      });
      const later = [...before, ...(await Promise.all(changes))];
      await published;
      const daysLeft = batch % 2 === 0 ? 0 : 14;
      for (const [index, { id }] of documents.entries()) {
        const notices = await replicas[0].review.notices(id);
        const isBefore = notices.length === 1;
        // changed before the worker came: the review is not due for another month
        expect(notices).toEqual(isBefore ? [`${due[index]} ${daysLeft}`] : []);
        results.set(`${isBefore}`, (results.get(`${isBefore}`) ?? 0) + 1);
        expect((await getReview(id)).due_at).toBe(later[index]);
      }
      await context.advance(40 * dayMs);
      for (const [index, { id }] of documents.entries())
        expect((await replicas[0].review.notices(id)).slice(-1)).toEqual([`${later[index]} 0`]);
    }
    expect([...results.keys()].sort()).toEqual(['false', 'true']);
  },
  timeoutMs,
);

test('after all races, the database breaks no invariant about documents', async () => {
  expect(await findBroken(context)).toEqual([]);
});
