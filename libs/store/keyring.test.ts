/** Tests of the keyring. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { createKeyring } from './keyring.ts';

const newKey = () => randomBytes(32).toString('base64');
const createTestKeyring = (...keys: string[]) => createKeyring(new Secret(keys.join(',')));

test('a sealed text opens with its context, and sealing is not deterministic', () => {
  const keyring = createTestKeyring(newKey());
  const [one, two] = [keyring.seal('geheim \u{1f510}', 'a.b'), keyring.seal('geheim \u{1f510}', 'a.b')];
  expect(one).not.toBe(two);
  expect(one).not.toContain('geheim');
  expect(keyring.open(one, 'a.b')).toBe('geheim \u{1f510}');
  expect(keyring.open(keyring.seal('', 'a.b'), 'a.b')).toBe('');
});

test('an altered sealed text does not open', () => {
  const keyring = createTestKeyring(newKey());
  const sealed = keyring.seal('secret', 'a.b');
  for (let at = 0; at < sealed.length; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    expect(() => keyring.open(sealed.slice(0, at) + other + sealed.slice(at + 1), 'a.b')).toThrow();
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
    expect(() => keyring.open(cut, 'a.b')).toThrow();
});

test('a sealed text does not open with another context', () => {
  const keyring = createTestKeyring(newKey());
  expect(() => keyring.open(keyring.seal('secret', 'a.b'), 'a.c')).toThrow();
});

test('an older key opens; the error for an unknown key has only its name', () => {
  const [old, young] = [newKey(), newKey()];
  const sealed = createTestKeyring(old).seal('secret', 'c');
  expect(createTestKeyring(young, old).open(sealed, 'c')).toBe('secret');
  expect(() => createTestKeyring(young).open(sealed, 'c')).toThrow(/^No key [0-9a-f]{8} in ENCRYPTION_KEYS$/);
});

test('the first key of the keyring seals', () => {
  const [old, young] = [newKey(), newKey()];
  const sealed = createTestKeyring(young, old).seal('secret', 'c');
  expect(createTestKeyring(young).open(sealed, 'c')).toBe('secret');
});

test('derived keyrings open only what a keyring of the same purpose sealed', () => {
  const [old, young] = [newKey(), newKey()];
  const keyring = createTestKeyring(young, old);
  const sealed = createTestKeyring(old).derive('cursors').seal('text', 'c');
  expect(keyring.derive('cursors').open(sealed, 'c')).toBe('text');
  expect(() => keyring.derive('others').open(sealed, 'c')).toThrow();
  expect(() => keyring.open(sealed, 'c')).toThrow();
  expect(() => keyring.derive('cursors').open(keyring.seal('text', 'c'), 'c')).toThrow();
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
    Buffer.alloc(32).toString('base64'),
    `${key},${Buffer.alloc(32).toString('base64')}`,
    `${key.slice(0, 20)}\n${key.slice(20)}`,
  ]) {
    const create = () => createKeyring(new Secret(wrong));
    expect(create).toThrow('ENCRYPTION_KEYS must hold');
    expect(create).not.toThrow(wrong.length > 5 ? wrong : 'impossible');
  }
  expect(() => createTestKeyring(` ${key} `, key)).not.toThrow();
});
