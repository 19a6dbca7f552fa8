/** Tests which pictures are sent with a Markdown or HTML file: those that it names, and only from its folder. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readLocalPictures } from './local-pictures.ts';

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'pds-pictures-'));
  folder = join(parent, 'sops');
  await mkdir(join(folder, 'img'), { recursive: true });
});
afterEach(() => rm(parent, { recursive: true }));

const find = async (text: string, maxBytes = 1000) => [
  ...(await readLocalPictures(join(folder, 'note.md'), text, maxBytes)).keys(),
];

test.each([
  ['![p](p.png)', 'p.png'],
  ['![](./img/p.JPG "Title")', 'img/p.JPG'],
  ['![a](missing.png)![p](p.png)', 'p.png'],
  ['[![p](p(1).gif)](https://example.com)', 'p(1).gif'],
  ['![p](<my picture.png>)', 'my picture.png'],
  ['![p](my%20picture.png)', 'my picture.png'],
  ['![p](a\\_b.png)', 'a_b.png'],
  ['![p](100%.png)', '100%.png'],
  ['![p](/img/p.png#part)', 'img/p.png'],
  ['![p][one]\n\n[one]: p.png', 'p.png'],
  ['<img alt="p" src="a&amp;b.png">', 'a&b.png'],
  ["<img src='img/größe.png'>", 'img/größe.png'],
  ['<img src=p.png>', 'p.png'],
])('%j sends its picture', async (text, name) => {
  await writeFile(join(folder, name), 'x');
  expect(await find(text)).toEqual([name]);
});

test('a picture that is named twice is sent once', async () => {
  await writeFile(join(folder, 'p.png'), 'x');
  await writeFile(join(folder, 'P.png'), 'x');
  expect(await find('![](p.png) ![](./p.png) ![](P.png)')).toEqual(['p.png']);
});

test.each([
  '../p.png',
  'img/../../p.png',
  '%2e%2e/p.png',
  'https://example.com/p.png',
  'data:image/png;base64,p.png',
  'link.png',
  'linked/p.png',
  'img/folder.png',
  'notes.md',
  '.env',
  'a%00.png',
])('%j is not sent', async (src) => {
  for (const name of ['../p.png', 'p.png', 'notes.md', '.env']) await writeFile(join(folder, name), 'x');
  await symlink(join(parent, 'p.png'), join(folder, 'link.png'));
  await symlink(parent, join(folder, 'linked'));
  await mkdir(join(folder, 'img', 'folder.png'));
  expect(await find(`![](${src})`)).toEqual([]);
});

test('a text with a very long line is searched in a moment', async () => {
  for (const text of ['](', '](((', '\\(', '[](<', 'src=', ']:'])
    expect(await find(text.repeat(1_000_000 / text.length))).toEqual([]);
});

test('pictures above the limit are an error that says what to do', async () => {
  for (const name of ['a.png', 'b.png']) await writeFile(join(folder, name), new Uint8Array(1_000_000));
  await expect(find('![](a.png) ![](b.png)', 1_500_000)).rejects.toThrow('Make them smaller');
});
