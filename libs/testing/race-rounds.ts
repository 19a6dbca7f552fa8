/** Runs the rounds of a race test. */
import type { TestResponse } from './http-client.ts';

const rounds = 200;
/** Rounds that run at the same time. */
const concurrency = 8;

/** Runs 200 rounds, several at a time. Returns how often each result occurred. */
export async function runRounds(run: (round: number) => Promise<string>): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const pending = Array.from({ length: rounds }, (_, round) => round);
  const work = async () => {
    for (let round = pending.shift(); round !== undefined; round = pending.shift()) {
      const result = await run(round);
      counts.set(result, (counts.get(result) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return counts;
}

/** Returns the outcome of a request as `status code`. */
export function describeOutcome({ status, body }: TestResponse): string {
  return status < 400 ? `${status}` : `${status} ${body.code}`;
}

/** Sends two requests at the same time, except in the first two rounds, which show both orders. */
export async function sendBoth(
  round: number,
  first: () => Promise<TestResponse>,
  second: () => Promise<TestResponse>,
): Promise<[TestResponse, TestResponse]> {
  if (round === 0) return [await first(), await second()];
  if (round > 1) return Promise.all([first(), second()]);
  const before = await second();
  return [await first(), before];
}
