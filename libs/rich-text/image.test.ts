/** Tests of images that are embedded as `data:` URIs. */
import { expect, test } from '@jest/globals';
import { dataUri, gif, jpeg, png } from '../../tests/rich-text/sample-images.ts';
import { parseImage } from './image.ts';

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
  ['a WebP', dataUri('image/webp', Buffer.from('RIFF\0\0\0\0WEBPVP8 \0\0\0\0', 'latin1'))],
  [
    'a PNG without IHDR',
    dataUri('image/png', Buffer.from(png(1, 1).toString('latin1').replace('IHDR', 'IDAT'), 'latin1')),
  ],
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
  expect(parseImage(src)).toBeUndefined();
});

test('parseImage never throws on a truncated image', () => {
  for (const bytes of [png(2, 2), gif(2, 2), jpeg(2, 2)]) {
    for (let length = 0; length <= bytes.length; length++) {
      expect(() => parseImage(dataUri('image/png', bytes.subarray(0, length)))).not.toThrow();
    }
  }
});
