/** Fuzzes Markdown exports with many random texts: what is text in the document is text for every reader. */
import { test } from '@jest/globals';
import { checkRoundTrips } from '../../rich-text/gfm-fuzz.ts';
import { checkHtml } from '../../rich-text/gfm-html.ts';

test.each([1, 2, 3, 4, 5])('1,000 random rich texts survive GFM, seed %d', (seed) => {
  checkRoundTrips(1_000, 100 + seed);
});

test.each([1, 2])('1,000 random rich texts show no active HTML, seed %d', (seed) => {
  checkHtml(1_000, 200 + seed);
});
