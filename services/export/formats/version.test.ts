/** Tests that a change of rendered bytes comes with a new renderer version, which is part of the ETag. */
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { unpack } from '#libs/opc';
import { everything } from '../../../tests/word/corpus/everything.ts';
import { compile } from '../../../tests/word/samples.ts';
import { rendererFixture } from '../../sharing/page/renderer-fixture.ts';
import { createDefaultTemplateFile } from './default-template.ts';
import { renderHtml } from './html.ts';
import { renderMarkdown } from './markdown.ts';
import { rendererVersion } from './version.ts';
import { renderWord } from './word.ts';

/** Hashes of one document rendered by each version. For a new version, add a line and keep the others. */
const pinned: Record<string, { word: string; markdown: string; gfm?: string; html?: string }> = {
  '1': { word: '6adecf2bf8864851', markdown: 'd82f96cc77df7318' },
  '2': { word: '4ee24f35796588c3', markdown: 'af62d7ce86f5f793' },
  '3': { word: '3833787e3973e4e0', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
  '4': { word: 'd723720b0e0cb6fc', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
  '5': { word: '68d2b8f424f492b1', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
  '6': { word: '68d2b8f424f492b1', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
  '7': {
    ...{ word: '68d2b8f424f492b1', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
    html: 'b3be72d7d7be5fd7',
  },
  '8': {
    ...{ word: '68d2b8f424f492b1', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
    html: 'd9c1ae3ea3179264',
  },
  '9': {
    ...{ word: '68d2b8f424f492b1', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
    html: 'd9c1ae3ea3179264',
  },
  '10': {
    ...{ word: '5c5398fd3c4873e3', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
    html: '6b9a3af610be3ee2',
  },
  '11': {
    ...{ word: '5c5398fd3c4873e3', markdown: '53241770e27d8787', gfm: '6a18021cf7323682' },
    html: '6b9a3af610be3ee2',
  },
  '12': {
    ...{ word: '2d2ec1369e31319a', markdown: '53241770e27d8787', gfm: 'f2ddb23a370674d5' },
    html: '71716727ab150d17',
  },
  '13': {
    ...{ word: 'd1fcd6b1613e8440', markdown: '53241770e27d8787', gfm: 'f2ddb23a370674d5' },
    html: '71716727ab150d17',
  },
  '14': {
    ...{ word: 'd1fcd6b1613e8440', markdown: '53241770e27d8787', gfm: 'f2ddb23a370674d5' },
    html: 'da719db0369161f5',
  },
};

test('a change of rendered bytes requires a new renderer version', async () => {
  const word = await renderWord(everything(), await compile(await createDefaultTemplateFile()), {
    indentInches: 0.5,
  });
  // docProps contains the current date
  const parts = [...(await unpack(word))].filter(([name]) => !name.startsWith('docProps/')).sort();
  expect({
    word: hash(parts.map(([name, bytes]) => `${name} ${hash([bytes])}`)),
    markdown: hash([renderMarkdown(everything(), 'plain')]),
    gfm: hash([renderMarkdown(everything(), 'gfm')]),
    html: hash([renderPage()]),
  }).toEqual(pinned[rendererVersion]);
});

/** The HTML file of the document that identifies the renderer of pages. */
function renderPage(): Uint8Array {
  const { document, organization, rows } = rendererFixture;
  const source = { document: { ...document, created_by: '' }, organization };
  const file = renderHtml(source, rows, { assets: new Map(), maxPictureBytes: 0 });
  if (!file) throw new Error('The document has no uploaded pictures');
  return file;
}

function hash(pieces: readonly (string | Uint8Array)[]): string {
  const sha256 = createHash('sha256');
  for (const piece of pieces) sha256.update(piece);
  return sha256.digest('hex').slice(0, 16);
}
