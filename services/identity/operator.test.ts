/** Tests for the operator's token: what is accepted as a setting, and how often it may be guessed. */
import { expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { createOperatorReader } from './operator.ts';
import { identitySettings } from './settings.ts';

const opsToken = new Secret('f'.repeat(32));
const createReader = (failuresPerMinute: number) => {
  const clock = { ms: 0 };
  const authenticate = createOperatorReader({ opsToken, failuresPerMinute, now: () => new Date(clock.ms) });
  return { clock, authenticate };
};

test('OPS_TOKEN needs 16 characters without spaces', () => {
  const accepts = (OPS_TOKEN: string) => identitySettings.safeParse({ OPS_TOKEN }).success;
  expect(accepts('f'.repeat(16))).toBe(true);
  for (const token of ['f'.repeat(15), `${'f'.repeat(15)} `, `${'f'.repeat(16)} ${'f'.repeat(16)}`])
    expect(accepts(token)).toBe(false);
});

test('an address that guesses too often is rejected for a while', async () => {
  const { clock, authenticate } = createReader(3);
  for (let tries = 0; tries < 3; tries += 1) expect(await authenticate('wrong', '192.0.2.7')).toBe(undefined);
  for (const token of ['wrong', opsToken.reveal()])
    await expect(authenticate(token, '192.0.2.7')).rejects.toMatchObject({
      name: 'too_many_requests',
      headers: { 'Retry-After': '20', 'RateLimit-Policy': '"operator-token-failures";q=3;w=60' },
    });
  expect(await authenticate(opsToken.reveal(), '192.0.2.8')).toMatchObject({ user_id: 'operator' });
  clock.ms += 20_000;
  expect(await authenticate(opsToken.reveal(), '192.0.2.7')).toMatchObject({ user_id: 'operator' });
});

test('right operator tokens are not limited, nor wrong ones at 0', async () => {
  for (const [limit, token, expected] of [
    [1, opsToken.reveal(), 'operator'],
    [0, 'wrong', undefined],
  ] as const) {
    const { authenticate } = createReader(limit);
    for (let tries = 0; tries < 5; tries += 1)
      expect((await authenticate(token, '192.0.2.7')) && 'operator').toBe(expected);
  }
});
