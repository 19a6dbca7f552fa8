/** Promises about images that are carried in the text. */
import { expect, test } from '@jest/globals';
import { parseImage } from './image.ts';
import { dataUri, gif, jpeg, png } from './testing/sample-images.ts';

test('PNG, JPEG and GIF are known by their bytes, with their size', () => {
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

test('the bytes are those of the URI, and decide when the declared kind of image is another', () => {
  const image = parseImage(dataUri('image/png', gif(3, 4)));
  expect(image?.mime).toBe('image/gif');
  expect(image && [...image.bytes]).toEqual([...gif(3, 4)]);
});

test('white space within the base64 and the case of the scheme do not matter', () => {
  const uri = dataUri('image/png', png(1, 2));
  expect(parseImage(uri.replace('data:image/png', 'DATA:image/PNG').replace('Rw', 'R\r\n w'))?.height).toBe(
    2,
  );
});

test.each([
  ['SVG', dataUri('image/svg+xml', Buffer.from('<svg onload="alert(1)"/>'))],
  ['SVG said to be a PNG', dataUri('image/png', Buffer.from('<svg onload="alert(1)"/>'.repeat(9)))],
  ['a PNG said to be HTML', dataUri('text/html', png(1, 1))],
  ['WebP', dataUri('image/webp', Buffer.from('RIFF\0\0\0\0WEBPVP8 \0\0\0\0', 'latin1'))],
  [
    'a PNG without IHDR',
    dataUri('image/png', Buffer.from(png(1, 1).toString('latin1').replace('IHDR', 'IDAT'), 'latin1')),
  ],
  ['a PNG cut short', dataUri('image/png', png(1, 1).subarray(0, 23))],
  ['a GIF of no version', dataUri('image/gif', gif(1, 1, '88a'))],
  ['a GIF cut short', dataUri('image/gif', gif(1, 1).subarray(0, 9))],
  [
    'a JPEG without a frame',
    dataUri('image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xd9, 0, 0, 0, 0, 0, 0, 0])),
  ],
  [
    'a JPEG of nothing but zero lengths',
    dataUri('image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0, 0])),
  ],
  ['a JPEG cut short', dataUri('image/jpeg', jpeg(1, 1).subarray(0, 22))],
  ['a picture without width', dataUri('image/png', png(0, 5))],
  ['a picture of over 100 megapixels', dataUri('image/png', png(10_001, 10_000))],
  ['markup after the bytes', `${dataUri('image/png', png(1, 1))}" onerror="alert(1)`],
  ['no base64', `data:image/png,${png(1, 1).toString('latin1')}`],
  ['nothing in it', 'data:image/png;base64,'],
  ['a remote picture', 'https://a.example/a.png'],
  ['a number', 7],
  ['nothing', undefined],
])('%s is no image', (_, src) => {
  expect(parseImage(src)).toBeUndefined();
});

test('no first bytes of an image make it fail', () => {
  for (const bytes of [png(2, 2), gif(2, 2), jpeg(2, 2)]) {
    for (let length = 0; length <= bytes.length; length++) {
      expect(() => parseImage(dataUri('image/png', bytes.subarray(0, length)))).not.toThrow();
    }
  }
});
