/** The rules of identity. */
import { describe, expect, test } from '@jest/globals';
import { formatApiKey, getKeyPrefix, isWellFormedKey } from './api-key.ts';
import { getPlanTerms, type PlanName } from './plans.ts';
import { addSlugSuffix, isReserved, toSlug } from './slug.ts';
import { defaultStorageLimits, formatStorageLimits, parseStorageLimits } from './storage-limits.ts';
import { nextRenewal, toPeriod } from './terms.ts';

describe('API keys', () => {
  const key = formatApiKey(new Uint8Array(32).fill(7));

  test('an API key is `pds_`, 43 characters and a checksum', () => {
    expect(key).toMatch(/^pds_[\w-]{43}[\w-]{6}$/);
    expect(isWellFormedKey(key)).toBe(true);
    expect(getKeyPrefix(key)).toBe(key.slice(0, 12));
  });

  test('the checksum of an API key detects every single wrong character', () => {
    for (let at = 0; at < key.length; at += 1) {
      const typo = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
      expect(isWellFormedKey(typo)).toBe(false);
    }
    expect(isWellFormedKey(`${key}a`)).toBe(false);
    expect(isWellFormedKey('')).toBe(false);
  });
});

describe('slugs', () => {
  test.each([
    ['Harbour Bank', 'harbour-bank'],
    ['  Müller & Söhne GmbH ', 'muller-sohne-gmbh'],
    ['API', 'org-api'],
    ['株式会社', 'org-new'],
    ['a', 'org-a'],
    [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
  ])('the name %s becomes the slug %s', (name, slug) => {
    expect(toSlug(name)).toBe(slug);
    expect(slug).toMatch(/^[a-z0-9](?:[a-z0-9-]{1,38}[a-z0-9])$/);
  });

  test('a slug with a suffix has at most 40 characters', () => {
    expect(addSlugSuffix('harbour-bank', 'a1b2')).toBe('harbour-bank-a1b2');
    expect(addSlugSuffix('x'.repeat(40), 'a1b2')).toHaveLength(40);
    expect(addSlugSuffix(`${'x'.repeat(34)}-yyyyy`, 'a1b2')).toBe(`${'x'.repeat(34)}-a1b2`);
  });

  test('some slugs are reserved', () => {
    expect(isReserved('embed')).toBe(true);
    expect(isReserved('harbour')).toBe(false);
  });
});

test('the trial plan never renews, team renews monthly, scale is unlimited', () => {
  const limits = { trialPublishes: 5, teamPublishes: 200, storage: {} };
  const terms = (plan: PlanName) => getPlanTerms(plan, limits);
  expect(terms('trial')).toMatchObject({ publishLimit: 5, renews: 'never' });
  expect(terms('team')).toMatchObject({ publishLimit: 200, renews: 'monthly' });
  expect(terms('scale')).toMatchObject({ publishLimit: null, renews: 'monthly' });
});

test('a monthly quota renews on the first day of a UTC month', () => {
  const newYearsEve = new Date('2026-12-31T23:59:59.999Z');
  expect(toPeriod({ renews: 'monthly' }, newYearsEve)).toBe('2026-12');
  expect(nextRenewal({ renews: 'monthly' }, newYearsEve)).toBe('2027-01-01T00:00:00.000Z');
  expect(toPeriod({ renews: 'never' }, newYearsEve)).toBe('all');
  expect(nextRenewal({ renews: 'never' }, newYearsEve)).toBeNull();
});

describe('storage limits', () => {
  test('the operator’s limits replace single defaults of a plan', () => {
    const storage = { team: { api_keys: null, documents: 7 } };
    const { storageLimits } = getPlanTerms('team', { trialPublishes: 5, teamPublishes: 200, storage });
    expect(storageLimits).toEqual({ ...defaultStorageLimits.team, api_keys: null, documents: 7 });
  });

  test.each([
    ['', {}],
    ['documents=0', { documents: 0 }],
    [' documents = 12 ,webhooks=unlimited,', { documents: 12, webhooks: null }],
  ])('the limits %j are parsed', (text, limits) => {
    expect(parseStorageLimits(text)).toEqual({ limits });
  });

  test.each([
    ['documents', '"documents" must be <limit>=<whole number> or <limit>=unlimited'],
    ['documents=-1', '"documents=-1" must be'],
    ['document_bytes=1GB', '"document_bytes=1GB" must be'],
    ['files=3', '"files" is not one of documents, document_bytes,'],
    ['documents=1,documents=2', '"documents" is named twice'],
  ])('the limits %j are rejected', (text, fault) => {
    expect(parseStorageLimits(text)).toEqual({ fault: expect.stringContaining(fault) });
  });

  test('formatted limits are parsed to the same limits', () => {
    for (const limits of Object.values(defaultStorageLimits))
      expect(parseStorageLimits(formatStorageLimits(limits))).toEqual({ limits });
  });
});
