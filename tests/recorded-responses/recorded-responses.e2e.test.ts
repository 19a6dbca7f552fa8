/**
 * Tests that optional capabilities are off by default: the responses to a story that uses none of them equal those that
 * were recorded before they existed. Documents and nodes may have new fields; public links and exports are the same
 * byte for byte. After an intended change of other responses, `RECORD_RESPONSES=1` records them again.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { withoutAddedFields } from './normalization.ts';
import { type RecordedResponse, runStory } from './story.ts';

const file = new URL('recorded.json', import.meta.url);
const at = new Date('2026-11-21T09:30:00.000Z');

let app: TestApp;
let actual: RecordedResponse[];
let recorded: RecordedResponse[];

beforeAll(async () => {
  app = await testApp({ services, contracts, now: () => at });
  actual = (await runStory(app)).map(toComparable);
  if (process.env.RECORD_RESPONSES) await writeFile(file, `${JSON.stringify(actual, null, 2)}\n`);
  recorded = JSON.parse(await readFile(file, 'utf8'));
});
afterAll(() => app?.stop());

const isExact = ({ request }: RecordedResponse) => /^GET (\/embed\/|.*\/export\/)/.test(request);

function toComparable(response: RecordedResponse): RecordedResponse {
  return isExact(response) ? response : { ...response, body: withoutAddedFields(response.body) };
}

test('the story sends the recorded requests', () => {
  expect(actual.map(({ request }) => request)).toEqual(recorded.map(({ request }) => request));
});

describe('without optional capabilities', () => {
  test('public links and exports have the recorded bytes', () => {
    expect(recorded.filter(isExact)).toHaveLength(8);
    expect(actual.filter(isExact)).toEqual(recorded.filter(isExact));
  });

  test('all other responses differ from the recorded ones only in new fields', () => {
    expect(actual).toEqual(recorded);
  });
});
