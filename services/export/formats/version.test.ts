/** The version of the formats is part of every file's ETag: who changes the bytes must change the version. */
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { everything } from '../testing/corpus/everything.ts';
import { compile } from '../testing/samples.ts';
import { createDefaultTemplateFile } from './default-template.ts';
import { renderMarkdown } from './markdown.ts';
import { unpack } from './opc/unpack.ts';
import { rendererVersion } from './version.ts';
import { renderWord } from './word.ts';

/** What a document with everything in it becomes with each version. Add a line, and leave the others as they are. */
const pinned: Record<string, { word: string; markdown: string }> = {
  '1': { word: '6adecf2bf8864851', markdown: 'd82f96cc77df7318' },
};

test('other bytes have another version', async () => {
  const word = await renderWord(everything(), await compile(await createDefaultTemplateFile()), {
    indentInches: 0.5,
  });
  // the zip itself and the date in docProps tell of the moment
  const parts = [...(await unpack(word))].filter(([name]) => !name.startsWith('docProps/')).sort();
  expect({
    word: hashOf(parts.map(([name, bytes]) => `${name} ${hashOf([bytes])}`)),
    markdown: hashOf([renderMarkdown(everything())]),
  }).toEqual(pinned[rendererVersion]);
});

function hashOf(pieces: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex').slice(0, 16);
}
