/** The watch over secrets finds what it should, so that a silent one means something. */
import { expect, test } from '@jest/globals';
import { secretWatch } from './secrets.ts';

const secret = 'correct "horse" battery / staple';

test.each([
  ['as it is', `a line with ${secret}`],
  ['within JSON', JSON.stringify({ msg: secret })],
  ['within a URL', `/reset?token=${encodeURIComponent(secret)}`],
])('a secret is found %s, and not shown', (_name, line) => {
  const watch = secretWatch();
  watch.know(secret);
  const [found, ...more] = watch.foundIn(['nothing here', line]);
  expect(more).toEqual([]);
  expect(found).toMatch(/<secret of \d+ characters>/);
  expect(found).not.toContain('battery');
});

test('what fields hold that are called like a secret is known, however deep, and the signature of a token alone', () => {
  const watch = secretWatch();
  watch.knowWithin([{ data: { refresh_token: 'refresh-refresh', title: 'no secret of anybody' } }]);
  watch.knowWithin({
    access_token: 'head.payload.signature-signature',
    invite_url: 'https://a/b#fragment-fragment',
  });
  const lines = ['refresh-refresh', 'signature-signature', 'fragment-fragment', 'no secret of anybody'];
  expect(watch.foundIn(lines)).toHaveLength(3);
});
