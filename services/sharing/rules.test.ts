/** The rules of sharing. */
import { describe, expect, test } from '@jest/globals';
import { isLive, isShareable, isWellFormedToken, mayShare, opens, tokenFrom, tokenHash } from './rules.ts';

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

describe('a token', () => {
  test('is 32 bytes as 43 characters of base64url', () => {
    const token = tokenFrom(new Uint8Array(32).fill(0xfb));
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(isWellFormedToken(token)).toBe(true);
  });

  test.each([
    '',
    'a'.repeat(42),
    'a'.repeat(44),
    `${'a'.repeat(42)}=`,
    `${'a'.repeat(42)}/`,
    `${'a'.repeat(43)}\n`,
  ])('of another form is none: %j', (text) => expect(isWellFormedToken(text)).toBe(false));
});

describe('a link', () => {
  const token = 'a'.repeat(43);
  const document = { status: 'published', share_epoch: 2 };
  const link = {
    token,
    organization: { _id: 'acme' },
    held: { hash: tokenHash(token), organization_id: 'acme', share_epoch: 2 },
    document,
  };

  test('opens the published version of its family', () => {
    expect(opens(link)).toBe(document);
  });

  test.each([
    ['no organization has this slug', { organization: undefined }],
    ['no token is held', { held: undefined }],
    ['nothing of the family is published', { document: undefined }],
    ['the hash is of another token', { held: { ...link.held, hash: tokenHash('b'.repeat(43)) } }],
    ['the hash is of another length', { held: { ...link.held, hash: 'short' } }],
    ['the slug is of another organization', { organization: { _id: 'other' } }],
    ['the document is not published', { document: { ...document, status: 'archived' } }],
    ['the document was archived since', { document: { ...document, share_epoch: 3 } }],
  ])('opens nothing when %s', (_cause, wrong) => {
    expect(opens({ ...link, ...wrong })).toBeUndefined();
  });
});
