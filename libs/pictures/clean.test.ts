/** Tests that pictures keep their pixels and lose their metadata, with files of Pillow and with broken ones. */
import { Buffer } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodePng } from '../../tests/fixtures/generators/png.ts';
import { cleanPicture, type Picture, type PictureFault } from './mod.ts';

const folder = new URL('../../tests/fixtures/pictures/', import.meta.url);
const names = readdirSync(folder).filter((name) => /\.(png|jpg|gif)$/.test(name));
const files = new Map(names.map((name) => [name, new Uint8Array(readFileSync(new URL(name, folder)))]));
const types: Readonly<Record<string, string>> = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif' };

function read(name: string): Uint8Array {
  const bytes = files.get(name);
  if (!bytes) throw new Error(`There is no picture ${name}`);
  return bytes;
}

function clean(bytes: Uint8Array): Picture {
  const cleaned = cleanPicture(bytes);
  if (!cleaned.ok) throw new Error(cleaned.fault);
  return cleaned.picture;
}

function getFault(bytes: Uint8Array): PictureFault | undefined {
  const cleaned = cleanPicture(bytes);
  return cleaned.ok ? undefined : cleaned.fault;
}

const contains = (bytes: Uint8Array, text: string) => Buffer.from(bytes).includes(text, 'latin1');

/** Changes some bytes of a copy. */
function patch(bytes: Uint8Array, at: number, values: readonly number[]): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.set(values, at);
  return copy;
}

describe.each(names)('%s', (name) => {
  const bytes = read(name);

  test('loses its metadata', () => {
    const { mediaType, bytes: cleaned } = clean(bytes);
    expect(mediaType).toBe(types[name.slice(-3)]);
    for (const text of ['Ana', 'GPS', 'Camera', 'adobe:ns', 'Photoshop', 'MPF', 'prVt', 'tIME', 'PK'])
      expect(contains(cleaned, text)).toBe(false);
  });

  test('is cleaned to the same bytes again', () => {
    const { bytes: cleaned } = clean(bytes);
    expect(Buffer.from(clean(cleaned).bytes).equals(cleaned)).toBe(true);
  });

  test('is truncated if any byte at its end is missing', () => {
    const { bytes: cleaned } = clean(bytes);
    for (let length = 8; length < cleaned.byteLength; length += 1)
      expect(getFault(cleaned.subarray(0, length))).toBe('truncated');
  });

  test('loses bytes after its end', () => {
    const before = clean(bytes).bytes;
    const page = Buffer.from('<script>alert(1)</script>');
    expect(Buffer.from(clean(Buffer.concat([bytes, page])).bytes).equals(before)).toBe(true);
  });
});

test('a change of any byte is rejected or cleaned, and never an error', () => {
  const change = fc.tuple(fc.constantFrom(...names), fc.nat(), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const [first] = changes;
      const copy = Uint8Array.from(read(first?.[0] ?? 'rgb.png'));
      for (const [, at, value] of changes) copy[at % copy.byteLength] = value;
      const cleaned = cleanPicture(copy);
      if (!cleaned.ok) return;
      const { picture } = cleaned;
      expect(picture.width * picture.height).toBeLessThanOrEqual(100_000_000);
      // application data may grow only by what this library writes: the orientation
      expect(picture.bytes.byteLength).toBeLessThanOrEqual(copy.byteLength + 44);
      expect(Buffer.from(clean(picture.bytes).bytes).equals(picture.bytes)).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

describe('the size', () => {
  test('is that of the upright picture', () => {
    const sizes = [1, 2, 3, 4, 5, 6, 7, 8].map((orientation) => {
      const { width, height } = clean(
        read(orientation === 1 ? 'plain.jpg' : `orientation-${orientation}.jpg`),
      );
      return `${width}x${height}`;
    });
    expect(sizes).toEqual([...Array(4).fill('24x16'), ...Array(4).fill('16x24')]);
    expect(clean(read('rotated.png'))).toMatchObject({ width: 16, height: 24 });
  });

  test('is limited to 100 megapixels', () => {
    const gif = patch(read('plain.gif'), 6, [0x60, 0xea, 0x60, 0xea]);
    expect(getFault(gif)).toBe('too_many_pixels');
    const jpeg = read('grey.jpg');
    const frame = Buffer.from(jpeg).indexOf(Buffer.from([0xff, 0xc0]));
    expect(getFault(patch(jpeg, frame + 5, [0xff, 0xff, 0xff, 0xff]))).toBe('too_many_pixels');
    expect(getFault(patch(jpeg, frame + 5, [0, 0]))).toBe('malformed');
  });

  test('of a PNG is not larger than its data can fill', () => {
    const png = encodePng(1_000, 1_000, () => [255, 255, 255, 255]);
    expect(getFault(png)).toBeUndefined();
    const small = encodePng(2, 2, () => [255, 255, 255, 255]);
    // the header of the large picture, with the data of the small one
    expect(getFault(Buffer.concat([png.subarray(0, 33), small.subarray(33)]))).toBe('malformed');
  });

  test('of an image in a GIF is not larger than its screen', () => {
    const gif = read('plain.gif');
    expect(getFault(patch(gif, 6, [23]))).toBe('malformed');
  });
});

describe('the type', () => {
  test.each([
    ['an empty file', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['HTML', '<!doctype html><title>GIF89a</title>'],
    ['WebP', 'RIFF\x24\0\0\0WEBPVP8 '],
    ['EMF', '\x01\0\0\0\x6c\0\0\0'],
    ['a PDF with a picture', '%PDF-1.7\n\xff\xd8\xff\xe0'],
    ['a PNG with line feeds that were changed', '\x89PNG\n\x1a\n\0\0\0\rIHDR'],
  ])('%s is not supported', (_name, text) => {
    expect(getFault(Buffer.from(text, 'latin1'))).toBe('unsupported_type');
  });

  test('is decided by the first bytes', () => {
    expect(getFault(Buffer.concat([Buffer.from('GIF89a'), read('rgb.png')]))).toBe('too_many_pixels');
    expect(getFault(Buffer.concat([read('rgb.png').subarray(0, 8), read('plain.jpg')]))).toBe('malformed');
  });
});

test.each([
  ['PNG', 'rgb.png', 33, [0, 0, 0, 0, 0x74, 0x45, 0x58, 0x74, 0x96, 0x42, 0xc5, 0x85]],
  ['JPEG', 'grey.jpg', 2, [0xff, 0xfe, 0, 2]],
  ['GIF', 'plain.gif', -1, [0x21, 0xfe, 0]],
])('a %s with 20,001 empty parts is malformed', (_type, name, at, part) => {
  const file = read(name);
  const add = (count: number) => {
    const parts = Buffer.alloc(count * part.length, Uint8Array.from(part));
    return Buffer.concat([file.subarray(0, at), parts, file.subarray(at)]);
  };
  expect(getFault(add(20_001))).toBe('malformed');
  expect(getFault(add(100))).toBeUndefined();
});

describe('kept parts', () => {
  test('a color profile and an animation', () => {
    expect(contains(clean(read('progressive.jpg')).bytes, 'ICC_PROFILE')).toBe(true);
    expect(contains(clean(read('palette.png')).bytes, 'iCCP')).toBe(true);
    expect(contains(clean(read('animated.png')).bytes, 'fdAT')).toBe(true);
    expect(contains(clean(read('animated.gif')).bytes, 'NETSCAPE2.0')).toBe(true);
    expect(contains(clean(read('cmyk.jpg')).bytes, 'Adobe')).toBe(true);
  });

  test('a JFIF header has no preview', () => {
    const cleaned = clean(read('preview.jpg')).bytes;
    expect([...cleaned.subarray(2, 6)]).toEqual([0xff, 0xe0, 0, 16]);
    expect([...cleaned.subarray(18, 20)]).toEqual([0, 0]);
  });

  test('a wrong checksum or an unknown critical chunk is malformed', () => {
    const png = read('interlaced.png');
    expect(getFault(patch(png, 20, [3]))).toBe('malformed');
    const critical = Buffer.from(png).indexOf('tIME');
    expect(getFault(patch(png, critical, [0x54]))).toBe('malformed');
  });
});
