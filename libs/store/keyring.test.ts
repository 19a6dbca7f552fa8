/** Secrets at rest. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { createKeyring } from './keyring.ts';

const newKey = () => randomBytes(32).toString('base64');
const ringOf = (...keys: string[]) => createKeyring(new Secret(keys.join(',')));

test('what was sealed is opened with the same context, and never looks the same twice', () => {
  const ring = ringOf(newKey());
  const [one, two] = [ring.seal('geheim \u{1f510}', 'a.b'), ring.seal('geheim \u{1f510}', 'a.b')];
  expect(one).not.toBe(two);
  expect(one).not.toContain('geheim');
  expect(ring.open(one, 'a.b')).toBe('geheim \u{1f510}');
  expect(ring.open(ring.seal('', 'a.b'), 'a.b')).toBe('');
});

test('any change of a sealed text refuses to open', () => {
  const ring = ringOf(newKey());
  const sealed = ring.seal('secret', 'a.b');
  for (let at = 0; at < sealed.length; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    expect(() => ring.open(sealed.slice(0, at) + other + sealed.slice(at + 1), 'a.b')).toThrow();
  }
  for (const cut of [
    '',
    sealed.slice(0, -1),
    sealed.slice(0, -20),
    `${sealed}A`,
    `${sealed}.x`,
    `${sealed} `,
    '..',
    'a.b.c',
  ])
    expect(() => ring.open(cut, 'a.b')).toThrow();
});

test('another context refuses to open', () => {
  const ring = ringOf(newKey());
  expect(() => ring.open(ring.seal('secret', 'a.b'), 'a.c')).toThrow();
});

test('an old key in the ring still opens; a key that has gone is named, not shown', () => {
  const [old, young] = [newKey(), newKey()];
  const sealed = ringOf(old).seal('secret', 'c');
  expect(ringOf(young, old).open(sealed, 'c')).toBe('secret');
  expect(() => ringOf(young).open(sealed, 'c')).toThrow(/^No key [0-9a-f]{8} in ENCRYPTION_KEYS$/);
});

test('the newest key seals', () => {
  const [old, young] = [newKey(), newKey()];
  const sealed = ringOf(young, old).seal('secret', 'c');
  expect(ringOf(young).open(sealed, 'c')).toBe('secret');
});

test('a setting that is no list of 32-byte base64 keys is refused without being shown', () => {
  const key = newKey();
  const hex = randomBytes(32).toString('hex');
  for (const wrong of [
    '',
    'short',
    hex,
    `${key},`,
    `${key},short`,
    `!${key}`,
    `${key.slice(0, 20)}\n${key.slice(20)}`,
  ]) {
    const refused = () => createKeyring(new Secret(wrong));
    expect(refused).toThrow('ENCRYPTION_KEYS must hold');
    expect(refused).not.toThrow(wrong.length > 5 ? wrong : 'impossible');
  }
  expect(() => ringOf(` ${key} `, key)).not.toThrow();
});
