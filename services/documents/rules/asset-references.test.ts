/** Tests which assets a node references. */
import { expect, test } from '@jest/globals';
import { toAssetIds } from './asset-references.ts';

const [one, two] = ['1'.repeat(64), 'b'.repeat(64)];
const image = (src: string) => ({ type: 'image', attrs: { src } });
const toContent = (...content: object[]) => JSON.stringify({ type: 'doc', content });

test('a node references each asset once, in reading order', () => {
  const content = toContent(image(`asset:${two}`), { type: 'cell', content: [image(`asset:${one}`)] });
  expect(toAssetIds(content)).toEqual({ asset_ids: [two, one] });
  expect(toAssetIds(toContent(image(`asset:${one}`), image(`asset:${one}`)))).toEqual({ asset_ids: [one] });
});

test('a node without an image that names an asset has no field', () => {
  const link = { type: 'text', text: '"asset:', marks: [{ type: 'link', attrs: { href: `asset:${one}` } }] };
  for (const content of [null, '{"type":"doc"}', toContent(link), toContent(image('https://a.b/c.png'))])
    expect(toAssetIds(content)).toEqual({});
});
