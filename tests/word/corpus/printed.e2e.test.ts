/** Tests the pages that LibreOffice prints: all words in order, with the numbers of their list items. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { printedText } from '#libs/testing';
import { renderWord } from '../../../services/export/formats/word.ts';
import { compile } from '../samples.ts';
import { expectedText, procedure } from './procedure.ts';
import { samples } from './templates.ts';

let pages: Map<string, string>;
beforeAll(async () => {
  const files = new Map<string, Uint8Array>();
  for (const { name, create } of samples)
    files.set(name, await renderWord(procedure(), await compile(await create()), { indentInches: 0.5 }));
  pages = await printedText(files);
}, 300_000);

/** Returns the expected words that are found in order and have the expected list number. */
function matchText(text: string): typeof expectedText {
  let from = 0;
  return expectedText.filter((expected) => {
    const [mark, word] = typeof expected === 'string' ? ['', expected] : expected;
    const at = text.toLowerCase().indexOf(word.toLowerCase(), from);
    if (at < 0) return false;
    from = at + word.length;
    const before = text.slice(text.lastIndexOf('\n', at) + 1, at);
    return mark === '' || new RegExp(`(^|\\W)(${mark})\\W*$`, 'i').test(before);
  });
}

describe.each(samples)('the template $name printed by LibreOffice', ({ name }) => {
  test('every word and list number is printed in order', () => {
    expect(matchText(pages.get(name) ?? '')).toEqual(expectedText);
  });

  test('no placeholder is printed', () => {
    expect(pages.get(name)).not.toMatch(/\{\{|\}\}/);
  });
});
