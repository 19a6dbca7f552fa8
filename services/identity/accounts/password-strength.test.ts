/** Passwords that are easy to guess are rejected, and of a long password only the start is checked. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createWeakPasswordCheck } from './password-strength.ts';

const rejectWeakPassword = createWeakPasswordCheck();

test.each(['password1234', 'qwertyuiop123', 'ada.lovelace@example.com', 'passwordpassword'.repeat(8)])(
  'the weak password %s is rejected with its path',
  (password) => {
    const check = () => rejectWeakPassword(password, ['ada.lovelace@example.com'], 'body/password');
    expect(check).toThrow(
      expect.objectContaining({ extra: { errors: [expect.objectContaining({ path: 'body/password' })] } }),
    );
  },
);

test('a password equal to the email of its owner is rejected at any length', () => {
  const email = `${randomBytes(20).toString('hex')}@example.com`;
  expect(() => rejectWeakPassword(email, [email], 'body/password')).toThrow();
});

test('a strong password is accepted, short or long', () => {
  for (const bytes of [9, 24, 190])
    expect(() =>
      rejectWeakPassword(randomBytes(bytes).toString('base64'), [], 'body/password'),
    ).not.toThrow();
});

// the estimate takes quadratic time, so a longer check would let a caller use up the CPU
test('only the first 32 characters of a password are checked', () => {
  const strong = randomBytes(190).toString('base64');
  const check = (password: string) => () => rejectWeakPassword(password, [], 'body/password');
  expect(check(`${'password'.repeat(4)}${strong}`)).toThrow();
  expect(check(`${strong.slice(0, 32)}${'password'.repeat(28)}`)).not.toThrow();
});
