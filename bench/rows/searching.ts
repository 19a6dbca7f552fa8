/** Finding documents by a word, among very many. */
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture, Organization } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { library } from './reading.ts';

const among = 100_000;
const wordsEach = 40;
const vocabulary = 20_000;
const atOnce = 2_000;

/** An organization whose documents have common and rare words; made once for all that ask there. */
let prepared: Promise<Organization> | undefined;

async function library100k(stage: BenchFixture, share: number): Promise<Organization> {
  const { house, ids, organization_id } = await library(stage, among * share);
  const random = randomFrom(1);
  for (let from = 0; from < ids.length; from += atOnce) {
    const rows = ids.slice(from, from + atOnce).map((_id, at) => {
      const words = new Set(['every']);
      // as in any language: few words are frequent, most are rare
      while (words.size < wordsEach) words.add(`w${Math.floor(vocabulary ** random())}`);
      if ((from + at) % 100 === 0) words.add('hundredth');
      if ((from + at) % 1000 === 0) words.add('thousandth');
      return { _id, organization_id, words: [...words], row_version: 1 };
    });
    await stage.db.collection<DbRow>('search').insertMany(rows, { ordered: false });
  }
  return house;
}

/** The same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

const asks = 200;

function search(words: string, found: string): Limit {
  return {
    name: `q: ${found} of 100,000 documents`,
    unit: 'ms',
    goal: 50,
    counts: 'p95',
    remark: 'from the request to the last byte of 50 documents, one request at a time',
    async take(stage, share) {
      prepared ??= library100k(stage, share);
      const { key } = await prepared;
      const path = `/api/v1/documents?limit=50&q=${encodeURIComponent(words)}`;
      const took: number[] = [];
      while (took.length < asks * share) {
        const startedAt = performance.now();
        await stage.clients.ours.ask({ method: 'GET', path, key });
        took.push(performance.now() - startedAt);
      }
      return took;
    },
  };
}

/** A word in none, in few and in many documents, and two at once. */
export const searches: readonly Limit[] = [
  search('nowhere', 'a word in none'),
  search('thousandth', 'a word in 0.1 %'),
  search('hundredth', 'a word in 1 %'),
  search('every thousandth', 'a word in all with one in 0.1 %'),
];
