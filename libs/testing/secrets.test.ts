/** The watch over secrets finds what it should, so that a silent one means something. */
import { expect, test } from '@jest/globals';
import { secretScanner } from './secrets.ts';

const secret = 'correct "horse" battery / staple';

test.each([
  ['as it is', `a line with ${secret}`],
  ['within JSON', JSON.stringify({ msg: secret })],
  ['within a URL', `/reset?token=${encodeURIComponent(secret)}`],
])('a secret is found %s, and not shown', (_name, line) => {
  const watch = secretScanner();
  watch.add(secret);
  const [found, ...more] = watch.findLeaks(['nothing here', line]);
  expect(more).toEqual([]);
  expect(found).toMatch(/<secret of \d+ characters>/);
  expect(found).not.toContain('battery');
});

test('what fields hold that are called like a secret is known, however deep, and the signature of a token alone', () => {
  const watch = secretScanner();
  watch.addFrom([{ data: { refresh_token: 'refresh-refresh', title: 'no secret of anybody' } }]);
  watch.addFrom({
    access_token: 'head.payload.signature-signature',
    invite_url: 'https://a/b#fragment-fragment',
  });
  const lines = ['refresh-refresh', 'signature-signature', 'fragment-fragment', 'no secret of anybody'];
  expect(watch.findLeaks(lines)).toHaveLength(3);
});
