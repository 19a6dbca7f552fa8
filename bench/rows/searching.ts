/** Limits for searching 100,000 documents by words. */
import type { Person } from '#libs/testing';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { createLibrary } from './reading.ts';

const documentCount = 100_000;
const wordsPerDocument = 40;
const vocabularySize = 20_000;
const rowsPerInsert = 2_000;

/** An organization whose documents have frequent and rare words. All limits share it. */
let prepared: Promise<Person> | undefined;

async function createSearchLibrary(fixture: BenchFixture, share: number): Promise<Person> {
  const { organization, ids, organization_id } = await createLibrary(fixture, documentCount * share);
  const random = randomFrom(1);
  for (let from = 0; from < ids.length; from += rowsPerInsert) {
    const rows = ids.slice(from, from + rowsPerInsert).map((_id, at) => {
      const words = new Set(['every']);
      // as in natural languages, a few words are frequent and most are rare
      while (words.size < wordsPerDocument) words.add(`w${Math.floor(vocabularySize ** random())}`);
      if ((from + at) % 100 === 0) words.add('hundredth');
      if ((from + at) % 1000 === 0) words.add('thousandth');
      return { _id, organization_id, words: [...words], row_version: 1 };
    });
    await fixture.db.collection<DbRow>('search').insertMany(rows, { ordered: false });
  }
  return organization;
}

/** Returns a generator of the same pseudo-random numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

const searchCount = 200;

function searchLimit(words: string, matches: string): Limit {
  return {
    name: `search 100,000 documents: ${matches}`,
    unit: 'ms',
    goal: 50,
    statistic: 'p95',
    remark: 'from the request to the last byte of 50 documents, one request at a time',
    async measure(fixture, share) {
      prepared ??= createSearchLibrary(fixture, share);
      const { key } = await prepared;
      const path = `/api/v1/documents?limit=50&q=${encodeURIComponent(words)}`;
      const durations: number[] = [];
      while (durations.length < searchCount * share) {
        const startedAt = performance.now();
        await fixture.clients.service.send({ method: 'GET', path, key });
        durations.push(performance.now() - startedAt);
      }
      return durations;
    },
  };
}

/** Searches for a word in no, few and many documents, and for two words. */
export const searches: readonly Limit[] = [
  searchLimit('nowhere', 'a word in none'),
  searchLimit('thousandth', 'a word in 0.1 %'),
  searchLimit('hundredth', 'a word in 1 %'),
  searchLimit('every thousandth', 'words in 100 % and 0.1 %'),
];
