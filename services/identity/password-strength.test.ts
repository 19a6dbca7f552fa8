/** Passwords that are easy to guess are rejected, and a long password takes no extra time. */
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

test('checking a long password takes no more work than 32 characters', () => {
  const work = (length: number) => {
    const texts = Array.from({ length: 4 }, () => randomBytes(256).toString('base64').slice(0, length));
    const before = process.cpuUsage();
    for (const text of texts) rejectWeakPassword(text, [], 'body/password');
    return process.cpuUsage(before).user;
  };
  work(32);
  expect(work(256)).toBeLessThan(10 * work(32));
});
