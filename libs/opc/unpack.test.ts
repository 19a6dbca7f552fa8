/** Tests untrusted zip archives: invalid ones are rejected without much memory. */
import { expect, test } from '@jest/globals';
import { checkUpload, p, parts, zip } from '../../tests/word/samples.ts';
import { hasPart, unpack, uploadLimits } from './unpack.ts';

const good = parts(p('{{content}}'));
const withExtra = (extra: object) => zip([...good, { name: 'word/extra.xml', data: '<x/>', ...extra }]);

test.each<[string, Uint8Array, string]>([
  ['an empty file', Buffer.alloc(0), 'not_docx'],
  ['a text file', Buffer.from('Dear reader, this is not a document, only some words.'), 'not_docx'],
  ['a PDF', Buffer.from(`%PDF-1.7\n${'0'.repeat(100)}`), 'not_docx'],
  ['a zip with a prefix', Buffer.concat([Buffer.from('MZ'), zip(good)]), 'not_docx'],
  [
    'an old .doc file',
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(512)]),
    'legacy_doc',
  ],
  [
    'a password-protected file',
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
    'password_protected',
  ],
  ['a truncated file', zip(good).subarray(0, -40), 'damaged'],
  ['a file over 10 MiB', Buffer.concat([zip(good), Buffer.alloc(10 * 1024 * 1024)]), 'too_large'],
  [
    'more than 2,000 parts',
    zip([...good, ...Array.from({ length: 2_000 }, (_part, at) => ({ name: `x/${at}`, data: '' }))]),
    'too_many_parts',
  ],
  ['a part that unpacks to 300 times its size', withExtra({ data: Buffer.alloc(3_000_000) }), 'bomb'],
  [
    '60 parts that unpack to 1 MiB each',
    zip([
      ...good,
      ...Array.from({ length: 60 }, (_part, at) => ({ name: `x/${at}`, data: Buffer.alloc(1024 * 1024) })),
    ]),
    'unpacked_too_large',
  ],
  [
    'a part that unpacks to more than it declares',
    withExtra({ data: Buffer.alloc(900_000), size: 10 }),
    'damaged',
  ],
  ['a part that unpacks to less than it declares', withExtra({ size: 4_000_000 }), 'damaged'],
  [
    'two names for the same bytes',
    zip([
      ...good,
      { name: 'word/document.xml2', data: good[2]?.data ?? '', sharesBytesOf: 2, localName: 'x' },
    ]),
    'damaged',
  ],
  ['overlapping parts', createOverlappingZip(), 'overlapping_parts'],
  ['a name with .. at its start', withExtra({ name: '../evil.xml' }), 'unsafe_name'],
  ['a name with .. inside', withExtra({ name: 'word/../../evil.xml' }), 'unsafe_name'],
  ['an absolute name', withExtra({ name: '/etc/passwd' }), 'unsafe_name'],
  ['a name with a drive', withExtra({ name: 'C:/evil.xml' }), 'unsafe_name'],
  ['a name with a backslash', withExtra({ name: 'word\\evil.xml' }), 'unsafe_name'],
  ['a name with a NUL', withExtra({ name: 'word/a\u0000.xml' }), 'unsafe_name'],
  ['a duplicate name', withExtra({ name: 'word/document.xml' }), 'duplicate_part'],
  ['a duplicate name in another case', withExtra({ name: 'WORD/Document.xml' }), 'duplicate_part'],
  ['an encrypted part', withExtra({ flags: 1 }), 'encrypted'],
  ['an unknown compression', withExtra({ method: 12 }), 'compression'],
  ['a wrong checksum', withExtra({ crc: 1 }), 'damaged'],
  ['a part with two different names', withExtra({ localName: 'word/other.xml' }), 'damaged'],
])('an archive with the fault "%s" is rejected', async (_what, file, code) => {
  expect(await checkUpload(file)).toBe(code);
});

test('folder entries and uncompressed parts are accepted', async () => {
  const stored = good.map((entry) => ({ ...entry, method: 0 }));
  expect(await checkUpload(zip([{ name: 'word/', data: '', method: 0 }, ...stored]))).toBe('accepted');
});

test('unpack rejects a bomb before it is completely unpacked', async () => {
  const bomb = zip([...good, { name: 'bomb.xml', data: Buffer.alloc(40_000_000) }]);
  const before = process.memoryUsage().arrayBuffers;
  await expect(unpack(bomb)).rejects.toThrow('unpacks to far more');
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
});

test('unpack limits the actual size, not the declared size', async () => {
  const file = withExtra({ data: Buffer.alloc(5_000), size: 1 });
  const limits = { fileBytes: 1e6, entries: 10, unpackedBytes: 3_000, ratio: 1e6, ratioFromBytes: 1e6 };
  await expect(unpack(file, limits)).rejects.toMatchObject({ fault: { code: 'unpacked_too_large' } });
});

test('hasPart reads only the directory', async () => {
  const file = zip([{ name: 'a.zip', data: zip(good), method: 0 }]);
  expect(await hasPart(file, 'a.zip')).toBe(true);
  expect(await hasPart(file, 'word/document.xml')).toBe(false);
  expect(await hasPart(file.subarray(0, -40), 'a.zip')).toBeUndefined();
  expect(await hasPart(zip(good), 'a.zip', { ...uploadLimits, entries: 2 })).toBeUndefined();
});

/** Creates a zip whose second part starts inside the stored bytes of the first, which contain an entry. */
function createOverlappingZip(): Buffer {
  const inner = zip([{ name: 'b.xml', data: 'b'.repeat(64), method: 0 }]);
  const file = zip([
    { name: 'a.xml', data: inner, method: 0 },
    { name: 'b.xml', data: 'b'.repeat(64), method: 0 },
  ]);
  const entry = file.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'));
  file.writeUInt32LE(30 + 'a.xml'.length, entry + 42);
  return file;
}
