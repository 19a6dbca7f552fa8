/** Tests of the cookies of links with a password. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { createKeyring } from '#libs/store';
import { cookieName, linkCookies } from './cookies.ts';

const newKey = () => randomBytes(32).toString('base64');
const link = { hash: 'token', password_hash: 'scrypt$salt$hash' };
const hourMs = 3_600_000;
const getValue = (cookie: string) => cookie.split(';')[0]?.slice(cookieName.length + 1) ?? '';

function createCookies(keys = newKey()) {
  const clock = { ms: Date.now() };
  const keyring = createKeyring(new Secret(keys)).derive('cookies');
  return { clock, keyring, cookies: linkCookies(keyring, () => clock.ms) };
}

test('a cookie is sent only to its link, over TLS, and also in a frame', () => {
  const { cookies } = createCookies();
  const [first, ...attributes] = cookies.create(link, '/sops/embed/acme/token').split('; ');
  expect(first).toMatch(/^pds_link=[\w.-]+$/);
  expect(attributes).toEqual([
    'Path=/sops/embed/acme/token',
    'Max-Age=43200',
    'Secure',
    'HttpOnly',
    'SameSite=None',
    'Partitioned',
  ]);
});

test('a cookie is valid for twelve hours, whatever the browser does', () => {
  const { clock, cookies } = createCookies();
  const value = getValue(cookies.create(link, '/'));
  clock.ms += 12 * hourMs - 1;
  expect(cookies.isValid(link, [value])).toBe(true);
  clock.ms += 1;
  expect(cookies.isValid(link, [value])).toBe(false);
});

test('a cookie is not valid for another token or another password', () => {
  const { cookies } = createCookies();
  const value = getValue(cookies.create(link, '/'));
  expect(cookies.isValid({ ...link, hash: 'other' }, [value])).toBe(false);
  expect(cookies.isValid({ ...link, password_hash: 'scrypt$other$hash' }, [value])).toBe(false);
});

test('an altered, an empty and a foreign value are not valid', () => {
  const { cookies, keyring } = createCookies();
  const value = getValue(cookies.create(link, '/'));
  const foreign = getValue(createCookies().cookies.create(link, '/'));
  const texts = ['Infinity', '99999999999999', ''].map((text) => keyring.seal(text, 'another context'));
  for (const wrong of ['', 'x', value.slice(0, -1), `${value}x`, value.toUpperCase(), foreign, ...texts])
    expect([wrong, cookies.isValid(link, [wrong])]).toEqual([wrong, false]);
  expect(cookies.isValid(link, [])).toBe(false);
  expect(cookies.isValid(link, ['x', value])).toBe(true);
});

test('a cookie of an older key is valid as long as the key is in the keyring', () => {
  const [older, newer] = [newKey(), newKey()];
  const value = getValue(createCookies(older).cookies.create(link, '/'));
  expect(createCookies(`${newer},${older}`).cookies.isValid(link, [value])).toBe(true);
  expect(createCookies(newer).cookies.isValid(link, [value])).toBe(false);
});
