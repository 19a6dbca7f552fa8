/** Tests of the addresses of assets in rich text. */
import { expect, test } from '@jest/globals';
import { findAssets, getAssetId, mayNameAssets, type RichText, toAssetSource } from './mod.ts';

const id = '0123456789abcdef'.repeat(4);

test('an address names an asset only with 64 lower-case hex digits', () => {
  expect(getAssetId(toAssetSource(id))).toBe(id);
  const others = [id, `asset:${id.toUpperCase()}`, `asset:${id}0`, `asset:${id.slice(1)}`, `ASSET:${id}`, 7];
  for (const src of [
    ...others,
    `asset:${id}\n`,
    'asset:',
    'asset:0197f0de-0000-7000-8000-000000000000',
    null,
  ])
    expect(getAssetId(src)).toBeUndefined();
});

test('images with the scheme are found in any depth, also with a wrong id', () => {
  const image = (src: string): RichText => ({ type: 'image', attrs: { src } });
  const text: RichText = {
    type: 'text',
    text: `asset:${id}`,
    marks: [{ type: 'link', attrs: { href: 'asset:' } }],
  };
  const unknown: RichText = { type: 'gallery', attrs: { src: `asset:${id}` }, content: [image('asset:7')] };
  const content: RichText = {
    type: 'doc',
    content: [text, unknown, image(`asset:${id}`), image('https://a.b/')],
  };
  expect(findAssets(content)).toEqual([
    { path: 'content/1/content/0/attrs/src', id: undefined },
    { path: 'content/2/attrs/src', id },
  ]);
  expect(findAssets(image(`asset:${id}`))).toEqual([{ path: 'attrs/src', id }]);
  expect(mayNameAssets(JSON.stringify(content))).toBe(true);
  expect(mayNameAssets(JSON.stringify(image('https://a.b/c')))).toBe(false);
  expect(findAssets(image('https://a.b/asset:'))).toEqual([]);
});

test.each([' ', '\n\t', '\u000b', '\u00a0'])(
  'an address after the space %j is found, and names no asset',
  (space) => {
    const image: RichText = { type: 'image', attrs: { src: `${space}asset:${id}` } };
    expect(mayNameAssets(JSON.stringify(image))).toBe(true);
    expect(findAssets(image)).toEqual([{ path: 'attrs/src', id: undefined }]);
  },
);
