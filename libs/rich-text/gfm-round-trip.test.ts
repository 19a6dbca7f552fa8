/** Tests that a GitHub Markdown parser reads exactly the structure and text of the rich text. */
import { expect, test } from '@jest/globals';
import { checkRoundTrips } from '../../tests/rich-text/gfm-fuzz.ts';
import { checkHtml, findUnsafe, renderGfm } from '../../tests/rich-text/gfm-html.ts';
import { outlineGfm } from '../../tests/rich-text/gfm-outline.ts';

test('300 random rich texts survive a round trip through GFM', () => {
  checkRoundTrips(300, 21);
});

test('200 random rich texts show the same text in GFM and on our page', () => {
  checkHtml(200, 22);
});

test('outlineGfm and findUnsafe recognize markup that the text could become', () => {
  expect(outlineGfm('**a**\n\n> [!NOTE]\n> b')).toEqual([
    ['paragraph', ['strong', 'a']],
    ['alert NOTE', ['paragraph', 'b']],
  ]);
  expect(findUnsafe(renderGfm('<b>a</b> [c](javascript:d)'))).toEqual(['<b', '</b', ' href="javascript:d"']);
});
