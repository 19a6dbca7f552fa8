/** Tests of the check of passwords: what is compared, counted and remembered. */
import { expect, test } from '@jest/globals';
import { passwordAttempts } from './attempts.ts';
import { passwordCheck } from './check.ts';

const link = { hash: 'token', password_hash: 'right' };

/** A check with a hasher that counts its comparisons; the hash of a password is the password. */
function createCheck() {
  const state = { ms: 0, compared: 0, results: [] as string[], isBusy: false };
  const now = () => state.ms;
  const check = passwordCheck({
    passwords: {
      async verify(password, stored) {
        state.compared += 1;
        await Promise.resolve();
        if (state.isBusy) throw new Error('busy');
        return password === stored;
      },
    },
    attempts: passwordAttempts({ now }),
    cacheKey: new Uint8Array(32),
    now,
    count: ({ result }) => void state.results.push(result),
  });
  return { state, check };
}

test('a right password is remembered for one minute from its comparison', async () => {
  const { state, check } = createCheck();
  for (const ms of [0, 30_000, 59_999]) {
    state.ms = ms;
    expect(await check(link, 'right', 'a')).toBe('right');
  }
  expect(state.compared).toBe(1);
  state.ms = 60_000;
  expect(await check(link, 'right', 'b')).toBe('right');
  expect(state.compared).toBe(2);
});

test('a remembered password is not used for another link or after a change', async () => {
  const { state, check } = createCheck();
  await check(link, 'right', 'a');
  await check({ ...link, hash: 'other' }, 'right', 'a');
  expect(state.compared).toBe(2);
  expect(await check({ ...link, password_hash: 'changed' }, 'right', 'a')).toBe('wrong');
  expect(state.compared).toBe(3);
});

test('the two spellings of a letter are the same password', async () => {
  const { state, check } = createCheck();
  const umlaut = { ...link, password_hash: 'Z\u00fcrich 8' };
  await check(umlaut, 'Z\u00fcrich 8', 'a');
  expect(await check(umlaut, 'Zu\u0308rich 8', 'a')).toBe('right');
  expect(state.compared).toBe(1);
});

test('parallel requests with one password compare it once', async () => {
  const { state, check } = createCheck();
  const results = await Promise.all(Array.from({ length: 50 }, () => check(link, 'right', 'a')));
  expect(new Set(results)).toEqual(new Set(['right']));
  expect(state.compared).toBe(1);
});

test('parallel guesses do not exceed the limit', async () => {
  const { state, check } = createCheck();
  const results = await Promise.all(Array.from({ length: 50 }, (_, at) => check(link, `guess ${at}`, 'a')));
  expect(results.filter((result) => result === 'wrong')).toHaveLength(10);
  expect(results.filter((result) => typeof result === 'object')).toHaveLength(40);
  expect(state.compared).toBe(10);
  expect(state.results.filter((result) => result === 'limited')).toHaveLength(40);
});

test('a wrong password is compared each time', async () => {
  const { state, check } = createCheck();
  await check(link, 'wrong', 'a');
  await check(link, 'wrong', 'a');
  expect([state.compared, state.results]).toEqual([2, ['wrong', 'wrong']]);
});

test('guesses of others do not stop a reader whose password is remembered', async () => {
  const { check } = createCheck();
  await check(link, 'right', 'a');
  for (let at = 0; at < 11; at += 1) await check(link, `guess ${at}`, 'a');
  expect(await check(link, 'right', 'a')).toBe('right');
});

test('right passwords are no attempts, however many', async () => {
  const { state, check } = createCheck();
  for (let at = 0; at < 300; at += 1) {
    state.ms += 60_000;
    expect(await check(link, 'right', 'a')).toBe('right');
  }
});

test('a password that could not be compared is no attempt', async () => {
  const { state, check } = createCheck();
  state.isBusy = true;
  for (let at = 0; at < 20; at += 1) await expect(check(link, 'right', 'a')).rejects.toThrow('busy');
  state.isBusy = false;
  expect(await check(link, 'right', 'a')).toBe('right');
});
