/** Promises about what a reader sees: LibreOffice prints the files, and all words stand there in their order, with their numbers. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { printedText } from '#libs/testing';
import { renderWord } from '../../formats/word.ts';
import { compile } from '../samples.ts';
import { expectedText, procedure } from './procedure.ts';
import { samples } from './templates.ts';

let pages: Map<string, string>;
beforeAll(async () => {
  const files = new Map<string, Uint8Array>();
  for (const { name, make } of samples)
    files.set(name, await renderWord(procedure(), await compile(await make()), { indentInches: 0.5 }));
  pages = await printedText(files);
}, 300_000);

/** What is read: the words that were found, in their order, as long as the marks of their lists are right. */
function matchText(text: string): typeof expectedText {
  let from = 0;
  return expectedText.filter((wanted) => {
    const [mark, word] = typeof wanted === 'string' ? ['', wanted] : wanted;
    const at = text.toLowerCase().indexOf(word.toLowerCase(), from);
    if (at < 0) return false;
    from = at + word.length;
    const before = text.slice(text.lastIndexOf('\n', at) + 1, at);
    return mark === '' || new RegExp(`(^|\\W)(${mark})\\W*$`, 'i').test(before);
  });
}

describe.each(samples)('$name', ({ name }) => {
  test('every word is printed in its order, and every list with its numbers', () => {
    expect(matchText(pages.get(name) ?? '')).toEqual(expectedText);
  });

  test('no placeholder is printed', () => {
    expect(pages.get(name)).not.toMatch(/\{\{|\}\}/);
  });
});
