/**
 * Tests the notices about reviews with three replicas that stop at random times and a clock that jumps: no notice is
 * published twice, and the latest one always. A model of the history says which notices and due times there must be.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addMember } from '#libs/testing';
import { findBroken } from './testing/broken-invariants.ts';
import { type LifecycleClient, lifecycleClient } from './testing/lifecycle.ts';
import { addMonthsToText, type ReviewClient, reviewClient } from './testing/reviews.ts';
import type { TestMember } from './testing/test-context.ts';
import { type ClockedContext, openClockedContext } from './testing/update-events.ts';

const dayMs = 86_400_000;
const documentCount = 6;
const timeoutMs = 600_000;

let context: ClockedContext;
let lifecycle: LifecycleClient;
let review: ReviewClient;
let ada: TestMember;

beforeAll(async () => {
  // in a leap year, before the end of a month
  context = await openClockedContext(Date.parse('2028-01-29T23:30:00.000Z'));
  lifecycle = lifecycleClient(context);
  review = reviewClient(context, lifecycle);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

/** What happened to a version, and the notices that were published about it. */
interface History {
  id: string;
  isPublished: boolean;
  /** The times of its publication and its reviews. */
  starts: string[];
  months: number | null;
  notices: string[];
}

/** The due time, recomputed from the whole history. */
function getDueAt({ isPublished, starts, months }: History): string | null {
  const start = starts.toSorted().at(-1);
  return isPublished && months && start ? addMonthsToText(start, months) : null;
}

/** Adds the notice that replicas publish at this time: the latest one, unless it was published. */
function addNotice(history: History, now: Date): void {
  const due = getDueAt(history);
  if (!due) return;
  const msLeft = Date.parse(due) - Number(now);
  const isKnown = (daysLeft: number) => history.notices.includes(`${due} ${daysLeft}`);
  if (msLeft <= 0 && !isKnown(0)) history.notices.push(`${due} 0`);
  if (msLeft > 0 && msLeft <= 14 * dayMs && !isKnown(14)) history.notices.push(`${due} 14`);
}

type Step =
  | { type: 'pass'; days: number; outage: 'none' | 'replica' | 'all' }
  | { type: 'interval'; at: number; months: number | null }
  | { type: 'confirm' | 'revise' | 'archive'; at: number };

const at = fc.nat(documentCount - 1);
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant('pass' as const),
        days: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 20, max: 90 })),
        outage: fc.constantFrom('none' as const, 'replica' as const, 'all' as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('interval' as const),
        at,
        months: fc.option(fc.integer({ min: 1, max: 4 })),
      }),
    },
    fc.record({ type: fc.constantFrom('confirm' as const, 'revise' as const), at }),
    { weight: 1, arbitrary: fc.record({ type: fc.constant('archive' as const), at }) },
  ),
  { minLength: 14, maxLength: 20 },
) as fc.Arbitrary<Step[]>;

test(
  'no notice is published twice, and the latest one always',
  async () => {
    let replicas = [await context.app.replica(), await context.app.replica()];
    await fc.assert(
      fc.asyncProperty(steps, async (story) => {
        const current = await Promise.all(Array.from({ length: documentCount }, (_, index) => create(index)));
        const all = [...current];
        for (const step of story) {
          if (step.type === 'pass') await pass(step);
          else await act(step);
          for (const history of all) addNotice(history, context.now());
        }
        for (const history of all) {
          expect(await review.notices(history.id)).toEqual(history.notices);
          expect(new Set(history.notices).size).toBe(history.notices.length);
          const document = await lifecycle.get(ada, history.id);
          expect(document.review?.due_at ?? null).toBe(getDueAt(history));
        }

        /** Lets time pass. All replicas jump over it at once, as if they had been down, or stop while they publish. */
        async function pass({ days, outage }: Step & { type: 'pass' }): Promise<void> {
          const isDone = context.advance(days * dayMs);
          if (outage !== 'none') await Promise.all(replicas.map((replica) => replica.stop()));
          if (outage === 'all') await context.app.restart();
          if (outage !== 'none') replicas = [await context.app.replica(), await context.app.replica()];
          await isDone;
        }

        async function act(step: Exclude<Step, { type: 'pass' }>): Promise<void> {
          const history = current[step.at];
          if (!history?.isPublished) return;
          if (step.type === 'interval') {
            const body = { every_months: step.months };
            expect((await review.set(ada, history.id, body)).status).toBe(200);
            history.months = step.months;
          } else if (step.type === 'confirm') {
            const { token } = await addMember(context.app, ada.as, { role: 'admin' });
            const { status, body } = await review.confirm({ ...ada, as: token }, history.id);
            expect(status).toBe(200);
            history.starts.push(body.review.reviewed_at);
          } else {
            history.isPublished = false;
            if (step.type === 'archive') await lifecycle.archive(ada, history.id);
            else {
              const revision = await revise(history);
              current[step.at] = revision;
              all.push(revision);
            }
          }
          await context.advance(0);
        }
      }),
      { numRuns: 4, seed: Number(process.env.SEED ?? Date.now()) },
    );
  },
  timeoutMs,
);

async function create(index: number): Promise<History> {
  const { id, published_at } = await lifecycle.createPublished(ada);
  const months = (index % 3) + 1;
  await review.set(ada, id, { every_months: months });
  return { id, isPublished: true, starts: [published_at], months, notices: [] };
}

async function revise({ id, months }: History): Promise<History> {
  const draft = await lifecycle.createRevision(ada, id);
  const { body } = await lifecycle.publish(ada, draft.id);
  return { id: draft.id, isPublished: true, starts: [body.published_at], months, notices: [] };
}

test('after all stories, the database breaks no invariant about documents', async () => {
  expect(await findBroken(context)).toEqual([]);
});
