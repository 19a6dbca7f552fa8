/** Tests for the redaction of unknown paths: typing errors stay visible, secrets do not. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, operation } from '#libs/contract';
import { createPathRedactor } from './loggable-path.ts';

const common = { method: 'get', summary: '', access: anyone, status: 200, problems: [] } as const;
const paths = [
  { id: 'openLink', at: 'root', path: '/links/{slug}/{token}' },
  { id: 'getThing', path: '/things/{thing_id}/parts' },
] as const;
const operations = paths.map((path) => operation({ ...common, ...path, returns: z.unknown() }));
const toLoggablePath = createPathRedactor(operations, '/api/v1');

const token = 'N2dEmAbc-0_xyzN2dEmAbc-0_xyzN2dEmAbc-0_xyz1';
const letters = 'qwertyuiopasdfghjklzxcvbnm'.repeat(2);

test.each([
  { path: '/api/v1/thing', logged: '/api/v1/thing' },
  { path: '/api/v1/things/0197f0de-0000-7000-8000-000000000000/prts', logged: '/api/v1/things/*/prts' },
  { path: '/api/v1/thing?title=Payroll', logged: '/api/v1/thing' },
  { path: '/favicon.ico', logged: '/favicon.ico' },
  { path: '/', logged: '/' },
  { path: '/api/v1/', logged: '/api/v1/' },
])('$path is logged as $logged', ({ path, logged }) => {
  expect(toLoggablePath(path)).toBe(logged);
});

test.each([
  `/links/acme/${token}/`,
  `/LINKS/acme/${token}`,
  `//links/acme/${token}`,
  `/api/v1/links/acme/${token}`,
  `/l%69nks/acme/${token}`,
  `/links/acme/${token}/things/${token}`,
  `/${token}`,
  `/open?token=${token}`,
])('a token in %s is not logged', (path) => {
  expect(toLoggablePath(path)).not.toContain(token.slice(0, 8));
});

test('text in the position of a parameter is not logged', () => {
  expect(toLoggablePath('/links/acme/correct-horse/')).toBe('/links/*/*/');
  expect(toLoggablePath(`/somewhere/${letters}`)).toBe('/somewhere/*');
});

test('keys, email addresses and line breaks are not logged', () => {
  for (const secret of ['pds_4fXk', 'ada@example.com', 'a%0Ab', 'a\nb', 'hunter2'])
    expect(toLoggablePath(`/things-of/${secret}`)).toBe('/things-of/*');
});

test('a path with many segments is truncated', () => {
  expect(toLoggablePath('/a'.repeat(40))).toBe(`${'/a'.repeat(12)}/…`);
});
