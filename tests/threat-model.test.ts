/** Tests that every claim of the threat model names tests, and that these and all other linked files exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';

const root = new URL('..', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/threat-model.md'), 'utf8');
const [, claims = ''] = /^## What is done$(.*)^## What is not done$/ms.exec(page) ?? [];

/** The relative links of a text. */
const findLinks = (text: string) =>
  [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path);

test('every claim of the threat model names a test', () => {
  const rows = claims.split('\n').filter((line) => /^\| (?!threat |---)/.test(line));
  expect(rows.length).toBeGreaterThan(25);
  const tests = /\[[^\]]+\]\(\.\.\/[^)]+\.test\.ts\)/;
  expect(rows.filter((row) => !tests.test(row.split('|').at(-2) ?? ''))).toEqual([]);
});

test('every file that the threat model or SECURITY.md names exists', () => {
  const policy = readFileSync(join(root, 'SECURITY.md'), 'utf8');
  const linked = [
    ...findLinks(page).map((path) => normalize(join('docs', path))),
    ...findLinks(policy),
    ...[...page.matchAll(/`((?:tests|libs|services|scripts)\/[^`]+)`/g)].map(([, path = '']) => path),
  ];
  expect(linked.length).toBeGreaterThan(40);
  expect(linked.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('the threat model names every test of the security lane', () => {
  const files = globSync('{libs,services,tests,scripts,tools}/**/*.security.test.ts', { cwd: root });
  const linked = findLinks(claims).map((path) => normalize(join('docs', path)));
  expect(files.length).toBeGreaterThan(4);
  expect(files.filter((file) => !linked.includes(file))).toEqual([]);
});
