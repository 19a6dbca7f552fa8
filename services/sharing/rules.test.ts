/** The rules of sharing. */
import { describe, expect, test } from '@jest/globals';
import {
  encodeToken,
  frameAncestors,
  hashToken,
  isLive,
  isShareable,
  mayShare,
  resolveLink,
  wantsHtml,
} from './rules.ts';

describe('who may share', () => {
  const document = { created_by: 'owner' };

  test('the owner may', () => {
    expect(mayShare({ user_id: 'owner', role: 'member' }, document)).toBe(true);
  });

  test('an admin may', () => {
    expect(mayShare({ user_id: 'other', role: 'admin' }, document)).toBe(true);
  });

  test('a member who is neither owner nor admin may not', () => {
    expect(mayShare({ user_id: 'other', role: 'member' }, document)).toBe(false);
  });
});

test('only published documents can have a link', () => {
  expect(isShareable({ status: 'published' })).toBe(true);
  expect(isShareable({ status: 'draft' })).toBe(false);
  expect(isShareable({ status: 'archived' })).toBe(false);
});

test('a token of an older epoch is dead', () => {
  expect(isLive({ share_epoch: 1 }, { share_epoch: 1 })).toBe(true);
  expect(isLive({ share_epoch: 0 }, { share_epoch: 1 })).toBe(false);
});

test('a token is 32 bytes as 43 characters of base64url', () => {
  expect(encodeToken(new Uint8Array(32).fill(0xfb))).toMatch(/^[\w-]{43}$/);
});

describe('a link', () => {
  const token = 'a'.repeat(43);
  const document = { status: 'published', share_epoch: 2 };
  const link = {
    token,
    organization: { _id: 'acme' },
    storedToken: { hash: hashToken(token), organization_id: 'acme', share_epoch: 2 },
    document,
  };

  test('opens the published version of its family', () => {
    expect(resolveLink(link)).toBe(document);
  });

  test.each([
    ['no organization has this slug', { organization: undefined }],
    ['no token is held', { storedToken: undefined }],
    ['nothing of the family is published', { document: undefined }],
    [
      'the hash is of another token',
      { storedToken: { ...link.storedToken, hash: hashToken('b'.repeat(43)) } },
    ],
    ['the hash is of another length', { storedToken: { ...link.storedToken, hash: 'short' } }],
    ['the slug is of another organization', { organization: { _id: 'other' } }],
    ['the document is not published', { document: { ...document, status: 'archived' } }],
    ['the document was archived since', { document: { ...document, share_epoch: 3 } }],
  ])('opens nothing when %s', (_cause, wrong) => {
    expect(resolveLink({ ...link, ...wrong })).toBeUndefined();
  });
});

test.each([
  ['json', true, false],
  ['html', false, true],
  [undefined, true, true],
  [undefined, false, false],
  ['xml', true, true],
  [['html', 'json'], false, false],
])('format %j with a client that prefers HTML: %j, gets the page: %j', (format, prefersHtml, isPage) => {
  expect(wantsHtml(format, { prefersHtml })).toBe(isPage);
});

describe('who may frame a page', () => {
  test('anyone, until the organization says otherwise', () => {
    expect(frameAncestors(null)).toBe('*');
  });

  test('the origins that it names', () => {
    expect(frameAncestors(['https://intranet.example', 'http://wiki.example:8080'])).toBe(
      'https://intranet.example http://wiki.example:8080',
    );
  });

  test('nobody, when it names none', () => {
    expect(frameAncestors([])).toBe("'none'");
  });

  test('no origin can end the directive or add a source', () => {
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
