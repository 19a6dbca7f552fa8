/**
 * Tests what real files become: `<file>.txt` beside each file is its outline. filling-line.docx and arranque.docx are
 * from python-docx, wartung.docx and tracked.docx from LibreOffice. `UPDATE_GOLDEN=true` writes the outlines.
 */
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { convertFile } from '../../services/documents/imports/conversion.ts';
import { toImportOutline } from './outline.ts';

const folder = new URL('../fixtures/imports/', import.meta.url);
const names = readdirSync(folder).filter((name) => !name.endsWith('.txt'));

test.each(names)('%s becomes the tree in its outline', async (name) => {
  const bytes = new Uint8Array(await readFile(new URL(name, folder)));
  const outline = toImportOutline(await convertFile({ name, bytes, acceptChanges: false }));
  const expected = new URL(`${name}.txt`, folder);
  if (process.env.UPDATE_GOLDEN) await writeFile(expected, `${outline}\n`);
  expect(`${outline}\n`).toBe(await readFile(expected, 'utf8'));
});

test('tracked.docx is imported if the caller accepts its tracked changes', async () => {
  const bytes = new Uint8Array(await readFile(new URL('tracked.docx', folder)));
  const outline = toImportOutline(await convertFile({ name: 'tracked.docx', bytes, acceptChanges: true }));
  expect(outline).toContain('paragraph[Close all valves now.]');
});
