/** Checking passwords: the right one only, a few at once, and nobody else waits for them. */
import { lookup } from 'node:dns/promises';
import { expect, test } from '@jest/globals';
import { createPasswordHasher, type PasswordHasher } from './passwords.ts';

const secret = 'correct horse battery staple';

/** Checks a password so many times at once; gives what became of each, and how many are done so far. */
function storm(passwords: PasswordHasher, count: number) {
  const state = { done: 0 };
  const checks = Array.from({ length: count }, async () => {
    const right = await passwords.verify(secret, undefined);
    state.done += 1;
    return right;
  });
  return { state, settled: Promise.allSettled(checks) };
}

test('the right password is right, however its letters are composed; any other and none at all are wrong', async () => {
  const { hash, verify } = createPasswordHasher({ concurrency: 2, maxQueue: 10 });
  const stored = await hash('Zürich liegt am Wasser'.normalize('NFD'));
  expect(stored).toMatch(/^scrypt\$[\w-]{22}\$[\w-]{43}$/);
  expect(await verify('Zürich liegt am Wasser'.normalize('NFC'), stored)).toBe(true);
  expect(await verify('Zürich liegt am See', stored)).toBe(false);
  expect(await verify('', undefined)).toBe(false);
  expect(await hash('Zürich liegt am Wasser')).not.toBe(stored);
});

test('whoever finds the queue full is told to come back; afterwards there is room again', async () => {
  const passwords = createPasswordHasher({ concurrency: 1, maxQueue: 2 });
  const settled = await storm(passwords, 5).settled;
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ]);
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  for (const reason of refused)
    expect(reason).toMatchObject({ name: 'unavailable', headers: { 'Retry-After': '3' } });
  expect(await storm(passwords, 3).settled).toEqual(Array(3).fill({ status: 'fulfilled', value: false }));
}, 60_000);

test('a check that fails gives its place to the next', async () => {
  const passwords = createPasswordHasher({ concurrency: 1, maxQueue: 5 });
  await expect(passwords.verify(secret, 'scrypt$$short')).rejects.toThrow();
  expect(await passwords.verify(secret, await passwords.hash(secret))).toBe(true);
});

test('a name is looked up in the middle of a storm, not after it', async () => {
  const { state, settled } = storm(createPasswordHasher({ concurrency: 2, maxQueue: 50 }), 16);
  await lookup('localhost');
  expect(state.done).toBeLessThan(8);
  await settled;
}, 60_000);
