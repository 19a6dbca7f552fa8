/** Tests of the keyring. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { createKeyring } from './keyring.ts';

const newKey = () => randomBytes(32).toString('base64');
const createRing = (...keys: string[]) => createKeyring(new Secret(keys.join(',')));

test('a sealed text opens with its context, and sealing is not deterministic', () => {
  const ring = createRing(newKey());
  const [one, two] = [ring.seal('geheim \u{1f510}', 'a.b'), ring.seal('geheim \u{1f510}', 'a.b')];
  expect(one).not.toBe(two);
  expect(one).not.toContain('geheim');
  expect(ring.open(one, 'a.b')).toBe('geheim \u{1f510}');
  expect(ring.open(ring.seal('', 'a.b'), 'a.b')).toBe('');
});

test('an altered sealed text does not open', () => {
  const ring = createRing(newKey());
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

test('a sealed text does not open with another context', () => {
  const ring = createRing(newKey());
  expect(() => ring.open(ring.seal('secret', 'a.b'), 'a.c')).toThrow();
});

test('an older key opens; the error for an unknown key has only its name', () => {
  const [old, young] = [newKey(), newKey()];
  const sealed = createRing(old).seal('secret', 'c');
  expect(createRing(young, old).open(sealed, 'c')).toBe('secret');
  expect(() => createRing(young).open(sealed, 'c')).toThrow(/^No key [0-9a-f]{8} in ENCRYPTION_KEYS$/);
});

test('the first key of the keyring seals', () => {
  const [old, young] = [newKey(), newKey()];
  const sealed = createRing(young, old).seal('secret', 'c');
  expect(createRing(young).open(sealed, 'c')).toBe('secret');
});

test('an invalid ENCRYPTION_KEYS throws an error without the value', () => {
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
    const create = () => createKeyring(new Secret(wrong));
    expect(create).toThrow('ENCRYPTION_KEYS must hold');
    expect(create).not.toThrow(wrong.length > 5 ? wrong : 'impossible');
  }
  expect(() => createRing(` ${key} `, key)).not.toThrow();
});
