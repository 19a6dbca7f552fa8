/** Passwords that are easy to guess are rejected, and of a long password only the start is checked. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createWeakPasswordCheck } from './password-strength.ts';

const rejectWeakPassword = createWeakPasswordCheck();

test.each(['password1234', 'qwertyuiop123', 'ada.lovelace@example.com', 'passwordpassword'.repeat(8)])(
  'the weak password %s is rejected with its path',
  async (password) => {
    const check = rejectWeakPassword(password, ['ada.lovelace@example.com'], 'body/password');
    await expect(check).rejects.toThrow(
      expect.objectContaining({ extra: { errors: [expect.objectContaining({ path: 'body/password' })] } }),
    );
  },
);

test('a password equal to the email of its owner is rejected at any length', async () => {
  const email = `${randomBytes(20).toString('hex')}@example.com`;
  await expect(rejectWeakPassword(email, [email], 'body/password')).rejects.toThrow();
});

test('a strong password is accepted, short or long', async () => {
  for (const bytes of [9, 24, 190])
    await rejectWeakPassword(randomBytes(bytes).toString('base64'), [], 'body/password');
});

// the estimate takes quadratic time, so a longer check would let a caller use up the CPU
test('only the first 32 characters of a password are checked', async () => {
  const strong = randomBytes(190).toString('base64');
  const check = (password: string) => rejectWeakPassword(password, [], 'body/password');
  await expect(check(`${'password'.repeat(4)}${strong}`)).rejects.toThrow();
  await check(`${strong.slice(0, 32)}${'password'.repeat(28)}`);
});
