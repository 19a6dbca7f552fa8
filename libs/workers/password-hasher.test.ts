/** Password hashing: verification, the limit on concurrent hashes, and its effect on other work. */
import { lookup } from 'node:dns/promises';
import { expect, test } from '@jest/globals';
import { createPasswordHasher, type PasswordHasher } from './password-hasher.ts';

const secret = 'correct horse battery staple';

/** Starts `count` verifications at once. Returns their results and how many are done so far. */
function startBurst(passwords: PasswordHasher, count: number) {
  const state = { done: 0 };
  const checks = Array.from({ length: count }, async () => {
    const right = await passwords.verify(secret, undefined);
    state.done += 1;
    return right;
  });
  return { state, settled: Promise.allSettled(checks) };
}

test('only the right password verifies, in any Unicode normalization', async () => {
  const { hash, verify } = createPasswordHasher({ concurrency: 2, maxQueue: 10 });
  const stored = await hash('Zürich liegt am Wasser'.normalize('NFD'));
  expect(stored).toMatch(/^scrypt\$[\w-]{22}\$[\w-]{43}$/);
  expect(await verify('Zürich liegt am Wasser'.normalize('NFC'), stored)).toBe(true);
  expect(await verify('Zürich liegt am See', stored)).toBe(false);
  expect(await verify('', undefined)).toBe(false);
  expect(await hash('Zürich liegt am Wasser')).not.toBe(stored);
});

test('a full queue rejects with Retry-After until hashes are done', async () => {
  const passwords = createPasswordHasher({ concurrency: 1, maxQueue: 2 });
  const settled = await startBurst(passwords, 5).settled;
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ]);
  const reasons = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  for (const reason of reasons)
    expect(reason).toMatchObject({ name: 'unavailable', headers: { 'Retry-After': '3' } });
  expect(await startBurst(passwords, 3).settled).toEqual(
    Array(3).fill({ status: 'fulfilled', value: false }),
  );
});

test('a failed verification frees its slot', async () => {
  const passwords = createPasswordHasher({ concurrency: 1, maxQueue: 5 });
  await expect(passwords.verify(secret, 'scrypt$$short')).rejects.toThrow();
  expect(await passwords.verify(secret, await passwords.hash(secret))).toBe(true);
});

test('a DNS look-up does not wait for a burst of verifications', async () => {
  const { state, settled } = startBurst(createPasswordHasher({ concurrency: 2, maxQueue: 50 }), 16);
  await lookup('localhost');
  expect(state.done).toBeLessThan(8);
  await settled;
});
