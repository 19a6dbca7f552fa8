/** Tests that the address of a link is inserted where a document shows a picture, and nowhere else. */
import { expect, test } from '@jest/globals';
import { escapeHtml } from '#libs/rich-text';
import { fillAddresses, hasAddresses, markAddresses } from './asset-addresses.ts';

const toBytes = (pieces: Iterable<string>) => Buffer.from([...pieces].join(''));

test('an address is inserted at each mark', () => {
  const bytes = toBytes(markAddresses((address) => [`"${address}1"`, ', ', `"${address}2"`]));
  expect(hasAddresses(bytes)).toBe(true);
  expect(String(fillAddresses(bytes, 'https://a.b/ü/'))).toBe('"https://a.b/ü/1", "https://a.b/ü/2"');
});

test('the marked text is the same every time', () => {
  const render = () => toBytes(markAddresses((address) => [address, '7'])).toString();
  expect(render()).toBe(render());
});

test('a document without pictures is returned as it is', () => {
  const bytes = toBytes(markAddresses(() => ['no picture']));
  expect([hasAddresses(bytes), fillAddresses(bytes, 'https://a.b/') === bytes]).toEqual([false, true]);
});

test('text of a document is never a mark', () => {
  const text = Array.from({ length: 0x300 }, (_, code) => String.fromCodePoint(code)).join('');
  for (const written of [
    JSON.stringify(text),
    escapeHtml(text),
    JSON.stringify('\ud800'),
    escapeHtml('\udc01'),
  ])
    expect(hasAddresses(Buffer.from(written))).toBe(false);
});
