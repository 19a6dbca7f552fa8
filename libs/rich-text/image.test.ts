/** Tests of images that are embedded as `data:` URIs. */
import { expect, test } from '@jest/globals';
import { dataUri, gif, jpeg, png, webp } from '../../tests/rich-text/sample-images.ts';
import { parseImage, parsePageImage } from './image.ts';
import { parsePixels } from './picture-size.ts';

test('parseImage detects PNG, JPEG and GIF with their size', () => {
  expect(parseImage(dataUri('image/png', png(640, 480)))).toMatchObject({
    mime: 'image/png',
    width: 640,
    height: 480,
  });
  for (const version of ['87a', '89a']) {
    const image = parseImage(dataUri('image/gif', gif(300, 2, version)));
    expect(image).toMatchObject({ mime: 'image/gif', width: 300, height: 2 });
  }
  for (const frame of [0xc0, 0xc1, 0xc2, 0xcf]) {
    const image = parseImage(dataUri('image/jpeg', jpeg(1024, 700, frame)));
    expect(image).toMatchObject({ mime: 'image/jpeg', width: 1024, height: 700 });
  }
});

test.each(['VP8X', 'VP8L', 'VP8 '] as const)('only parsePageImage accepts a WebP with %p', (chunk) => {
  const src = dataUri('image/webp', webp(640, 480, chunk));
  expect(parsePageImage(src)).toMatchObject({ mime: 'image/webp', width: 640, height: 480 });
  expect(parseImage(src)).toBeUndefined();
});

test('parsePageImage accepts what parseImage accepts', () => {
  const src = dataUri('image/png', png(640, 480));
  expect(parsePageImage(src)).toEqual(parseImage(src));
});

test('the image type is detected from the bytes, not from the declared type', () => {
  const image = parseImage(dataUri('image/png', gif(3, 4)));
  expect(image?.mime).toBe('image/gif');
  expect(image && [...image.bytes]).toEqual([...gif(3, 4)]);
});

test('parseImage ignores white space in base64 and the case of the prefix', () => {
  const uri = dataUri('image/png', png(1, 2));
  expect(parseImage(uri.replace('data:image/png', 'DATA:image/PNG').replace('Rw', 'R\r\n w'))?.height).toBe(
    2,
  );
});

test.each([
  ['an SVG', dataUri('image/svg+xml', Buffer.from('<svg onload="alert(1)"/>'))],
  ['an SVG declared as PNG', dataUri('image/png', Buffer.from('<svg onload="alert(1)"/>'.repeat(9)))],
  ['a PNG declared as HTML', dataUri('text/html', png(1, 1))],
  ['a truncated WebP', dataUri('image/webp', webp(9, 9).subarray(0, 29))],
  ['a WebP with an unknown chunk', dataUri('image/webp', replace(webp(9, 9), 'VP8X', 'VP9X'))],
  ['a lossy WebP without its signature', dataUri('image/webp', webp(9, 9, 'VP8 ').fill(0, 23, 26))],
  ['a lossless WebP without its signature', dataUri('image/webp', webp(9, 9, 'VP8L').fill(0, 20, 21))],
  ['another RIFF file', dataUri('image/webp', replace(webp(9, 9), 'WEBP', 'WAVE'))],
  ['a PNG without IHDR', dataUri('image/png', replace(png(1, 1), 'IHDR', 'IDAT'))],
  ['a truncated PNG', dataUri('image/png', png(1, 1).subarray(0, 23))],
  ['a GIF with an unknown version', dataUri('image/gif', gif(1, 1, '88a'))],
  ['a truncated GIF', dataUri('image/gif', gif(1, 1).subarray(0, 9))],
  [
    'a JPEG without a frame',
    dataUri('image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xd9, 0, 0, 0, 0, 0, 0, 0])),
  ],
  [
    'a JPEG with zero-length segments only',
    dataUri('image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0, 0])),
  ],
  ['a truncated JPEG', dataUri('image/jpeg', jpeg(1, 1).subarray(0, 22))],
  ['an image with width 0', dataUri('image/png', png(0, 5))],
  ['an image of over 100 megapixels', dataUri('image/png', png(10_001, 10_000))],
  ['markup after the bytes', `${dataUri('image/png', png(1, 1))}" onerror="alert(1)`],
  ['a data URI without base64', `data:image/png,${png(1, 1).toString('latin1')}`],
  ['an empty data URI', 'data:image/png;base64,'],
  ['a remote image', 'https://a.example/a.png'],
  ['a number', 7],
  ['undefined', undefined],
])('%s is not an accepted image', (_, src) => {
  expect(parsePageImage(src)).toBeUndefined();
  expect(parseImage(src)).toBeUndefined();
});

test('parsePageImage never throws on a truncated image', () => {
  for (const bytes of [
    png(2, 2),
    gif(2, 2),
    jpeg(2, 2),
    webp(2, 2),
    webp(2, 2, 'VP8L'),
    webp(2, 2, 'VP8 '),
  ]) {
    for (let length = 0; length <= bytes.length; length++) {
      expect(() => parsePageImage(dataUri('image/png', bytes.subarray(0, length)))).not.toThrow();
    }
  }
});

/** Replaces ASCII text in bytes. */
function replace(bytes: Buffer, before: string, after: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(before, after), 'latin1');
}

test('a width in other units than pixels is not understood', () => {
  expect(['100', '100.5px', 40, ...['100%', '10em', 'px', '1e3', '']].map(parsePixels)).toEqual([
    ...[100, 100.5, 40],
    ...Array(5).fill(undefined),
  ]);
});
