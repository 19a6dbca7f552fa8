/** Tests the files of documents: names, checksums, and what is rejected. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  readBases,
  readDocumentFiles,
  toBaseName,
  toChecksum,
  toNewPath,
  toSlug,
  writeDocumentFile,
} from './document-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('file names', () => {
  test.each([
    ['Closing the till', 'closing-the-till'],
    ['  Größe & Menge (2.1) ', 'große-menge-2-1'],
    ['Ouvrir le café', 'ouvrir-le-cafe'],
    ['開店手順', '開店手順'],
    ['../../etc/passwd', 'etc-passwd'],
    ['!!!', 'document'],
    ['x'.repeat(300), 'x'.repeat(60)],
    ['𖤚'.repeat(60), '𖤚'.repeat(45)],
  ])('%j becomes a file name', (title, expected) => {
    expect(toSlug(title)).toBe(expected);
  });

  test('a second document with the same title gets the end of its id', () => {
    const used = new Set<string>();
    const paths = ['1', '2'].map((id) => toNewPath('d', { id: `0000-${id.repeat(12)}`, title: 'SOP' }, used));
    expect(paths).toEqual([join('d', 'sop.json'), join('d', 'sop-222222222222.json')]);
  });

  test('a name with the end of the id that is in use gets a number', () => {
    const used = new Set(['sop', 'sop-abc', 'sop-abc-2.json']);
    const paths = ['ABC', 'a/bc'].map((id) => toNewPath('d', { id, title: 'SOP' }, used));
    expect(paths).toEqual([join('d', 'sop-abc-3.json'), join('d', 'sop-abc-4.json')]);
  });

  test.each(['CON', 'com1', 'Nul'])('the title %s does not become the name of a device', (title) => {
    const path = toNewPath('d', { id: 'abc', title }, new Set());
    expect(path).toBe(join('d', `${title.toLowerCase()}-abc.json`));
  });

  test('an id with other characters leads to no other folder', () => {
    const document = { id: 'x/../../../ab\n', title: 'SOP' };
    expect(toNewPath('d', document, new Set(['sop']))).toBe(join('d', 'sop-xab.json'));
  });
});

test('the checksum does not depend on the order of fields', () => {
  expect(toChecksum({ a: 1, b: [{ c: 2, d: undefined }] })).toBe(toChecksum({ b: [{ c: 2 }], a: 1 }));
  expect(toChecksum([1, 2])).not.toBe(toChecksum([2, 1]));
  expect(toChecksum({ title: 'a' })).not.toBe(toChecksum({ title: 'b' }));
});

describe('reading a folder', () => {
  const write = (name: string, value: unknown) =>
    writeFile(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));

  test('fields that are left out are null, and other files are ignored', async () => {
    await write('a.json', { title: 'A' });
    await write('.pds.json', '{');
    await write('a.md', '# A');
    const content = { title: 'A', version: null, department: null, language: null, nodes: [] };
    expect(await readDocumentFiles(folder)).toEqual([
      { path: join(folder, 'a.json'), id: undefined, content },
    ]);
  });

  test('a file is read with an extension in capitals and a byte order mark', async () => {
    await write('A.JSON', '\uFEFF{ "title": "A" }');
    const expected = [expect.objectContaining({ path: join(folder, 'A.JSON') })];
    expect(await readDocumentFiles(folder)).toEqual(expected);
    expect(await readDocumentFiles(join(folder, 'A.JSON'))).toEqual(expected);
    expect(toBaseName(join(folder, 'A.JSON'))).toBe('A');
  });

  test('a file is read as it was written', async () => {
    const nodes = [{ node_type: 'section' as const, title: 'S', children: [] }];
    const content = { title: 'A', version: '1', department: null, language: 'de', nodes };
    const file = { path: join(folder, 'a.json'), id: 'x', content };
    await writeDocumentFile(file);
    expect(await readDocumentFiles(file.path)).toEqual([file]);
  });

  test.each([
    ['{', 'is not valid JSON'],
    [[], 'it must be an object'],
    [null, 'it must be an object'],
    [{ titel: 'A' }, 'the field "titel" is unknown'],
    [{}, '"title" must be a text'],
    [{ title: 'A', version: 2 }, '"version" must be a text or null'],
    [{ title: 'A', id: 7 }, '"id" must be a text'],
    [{ title: 'A', id: '' }, '"id" cannot be ""'],
    [{ title: 'A', id: '..' }, '"id" cannot be ".."'],
    [{ title: 'A', nodes: {} }, '"nodes" must be a list'],
  ])('%j is rejected with the name of the file', async (value, message) => {
    await write('a.json', value);
    await expect(readDocumentFiles(folder)).rejects.toThrow(`${join(folder, 'a.json')} is not`);
    await expect(readDocumentFiles(folder)).rejects.toThrow(message);
  });

  test('a file in another encoding, whose letters would be lost, is rejected', async () => {
    await writeFile(join(folder, 'a.json'), Buffer.from('{"title":"Bäckerei"}', 'latin1'));
    await expect(readDocumentFiles(folder)).rejects.toThrow('a.json is not UTF-8');
  });

  test('two files with the same id are rejected', async () => {
    for (const name of ['a.json', 'b.json']) await write(name, { id: 'x', title: 'A' });
    await expect(readDocumentFiles(folder)).rejects.toThrow('b.json have the same id');
  });

  test('a missing folder and a damaged record are explained', async () => {
    await expect(readDocumentFiles(join(folder, 'none'))).rejects.toThrow('Cannot read the folder');
    expect((await readBases(folder)).size).toBe(0);
    await write('.pds.json', '{');
    await expect(readBases(folder)).rejects.toThrow('is damaged. Delete it, and pull again.');
    for (const damaged of [{ x: null }, [], null]) {
      await write('.pds.json', damaged);
      await expect(readBases(folder)).rejects.toThrow('is damaged. Delete it, and pull again.');
    }
  });
});
