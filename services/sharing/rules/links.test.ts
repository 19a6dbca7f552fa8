/** Tests of the rules of sharing. */
import { describe, expect, test } from '@jest/globals';
import {
  encodeToken,
  frameAncestors,
  hashToken,
  isLive,
  isShareable,
  resolveLink,
  wantsHtml,
} from './links.ts';

test('only published documents are shareable', () => {
  expect(isShareable({ status: 'published' })).toBe(true);
  expect(isShareable({ status: 'draft' })).toBe(false);
  expect(isShareable({ status: 'archived' })).toBe(false);
});

test('a share token of an older epoch is not live', () => {
  expect(isLive({ share_epoch: 1 }, { share_epoch: 1 })).toBe(true);
  expect(isLive({ share_epoch: 0 }, { share_epoch: 1 })).toBe(false);
});

test('a share token is 32 bytes in 43 characters of base64url', () => {
  expect(encodeToken(new Uint8Array(32).fill(0xfb))).toMatch(/^[\w-]{43}$/);
});

describe('resolveLink', () => {
  const hash = hashToken('a'.repeat(43));
  const document = { status: 'published', share_epoch: 2 };
  const organization = { _id: 'acme' };
  const storedToken = { hash, organization_id: 'acme', share_epoch: 2 };
  const now = new Date('2026-11-21T09:30:00.000Z');
  const link = { hash, storedToken, organization, document, now };

  test('returns the published version, the organization and the stored token', () => {
    expect(resolveLink(link)).toEqual({ document, organization, storedToken });
  });

  test.each([
    ['no organization has this slug', { organization: undefined }],
    ['the token is unknown', { storedToken: undefined }],
    ['the family has no published version', { document: undefined }],
    ['the hash is of another token', { storedToken: { ...storedToken, hash: hashToken('b'.repeat(43)) } }],
    ['the hash is of another length', { storedToken: { ...storedToken, hash: 'short' } }],
    ['the slug is of another organization', { organization: { _id: 'other' } }],
    ['the document is not published', { document: { ...document, status: 'archived' } }],
    ['the link expires at this moment', { storedToken: { ...storedToken, expires_at: now } }],
    ['the document was archived since', { document: { ...document, share_epoch: 3 } }],
  ])('returns undefined when %s', (_cause, wrong) => {
    expect(resolveLink({ ...link, ...wrong })).toBeUndefined();
  });

  test('returns the document of a link that expires a millisecond later', () => {
    const expires_at = new Date(now.getTime() + 1);
    expect(resolveLink({ ...link, storedToken: { ...storedToken, expires_at } })).toMatchObject({ document });
  });
});

test.each([
  ['json', true, false],
  ['html', false, true],
  [undefined, true, true],
  [undefined, false, false],
  ['xml', true, true],
  [['html', 'json'], false, false],
])('wantsHtml for format %j and prefersHtml %j is %j', (format, prefersHtml, expected) => {
  expect(wantsHtml(format, { prefersHtml })).toBe(expected);
});

describe('frameAncestors', () => {
  test('allows every origin by default', () => {
    expect(frameAncestors(null)).toBe('*');
  });

  test('lists the configured origins', () => {
    expect(frameAncestors(['https://intranet.example', 'http://wiki.example:8080'])).toBe(
      'https://intranet.example http://wiki.example:8080',
    );
  });

  test('allows no origin for an empty list', () => {
    expect(frameAncestors([])).toBe("'none'");
  });

  test('ignores origins that could end the directive or add a source', () => {
    const origins = [
      'https://a;sandbox',
      'https://a.example *',
      "https://'self'",
      'https://[::1]',
      'data:',
      '*',
    ];
    expect(frameAncestors(origins)).toBe("'none'");
    expect(frameAncestors([...origins, 'https://b.example'])).toBe('https://b.example');
  });
});
