/** Tests of the secret scanner: tests that use it rely on it to find every leak. */
import { expect, test } from '@jest/globals';
import { secretScanner } from './secrets.ts';

const secret = 'correct "horse" battery / staple';

test.each([
  ['plain', `a line with ${secret}`],
  ['inside JSON', JSON.stringify({ msg: secret })],
  ['inside a URL', `/reset?token=${encodeURIComponent(secret)}`],
])('the scanner finds a secret %s and masks it', (_name, line) => {
  const scanner = secretScanner();
  scanner.add(secret);
  const [found, ...more] = scanner.findLeaks(['nothing here', line]);
  expect(more).toEqual([]);
  expect(found).toMatch(/<secret of \d+ characters>/);
  expect(found).not.toContain('battery');
});

test('the scanner collects secret fields, JWT signatures and link fragments', () => {
  const scanner = secretScanner();
  scanner.addFrom([{ data: { refresh_token: 'refresh-refresh', title: 'not a secret' } }]);
  scanner.addFrom({
    access_token: 'head.payload.signature-signature',
    invite_url: 'https://a/b#fragment-fragment',
  });
  const lines = ['refresh-refresh', 'signature-signature', 'fragment-fragment', 'not a secret'];
  expect(scanner.findLeaks(lines)).toHaveLength(3);
});
