/** Tests that the list of faults names existing tests, and that every test named after a fault belongs to it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { faults } from './list.ts';

const root = join(import.meta.dirname, '../..');
const readText = (file: string) => readFileSync(join(root, file), 'utf8');

test('faults are unique and in order', () => {
  const ids = faults.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1))));
});

test('every test in the list of faults exists', () => {
  const missing = faults.flatMap(({ id, proofs }) =>
    proofs.flatMap(({ file, tests, declaredIn = file }) => {
      const text = readText(declaredIn);
      return tests.filter((title) => !text.includes(`'${title}`)).map((title) => `${id}: ${file}: ${title}`);
    }),
  );
  expect(missing).toEqual([]);
  for (const { id, proofs } of faults)
    expect([id, proofs.some(({ tests }) => tests.length > 0)]).toEqual([id, true]);
});

test('every test named after a fault is in its list', () => {
  const files = globSync('tests/chaos/*.chaos.test.ts', { cwd: root });
  expect(files.length).toBeGreaterThan(0);
  const unlisted = files.flatMap((file) =>
    [...readText(file).matchAll(/^(?:test\(| {2}\[?)'((F\d+): [^']*)/gm)].flatMap(([, title = '', id]) => {
      const proofs = faults.find((one) => one.id === id)?.proofs ?? [];
      const isListed = proofs.some(
        (proof) => proof.file === file && proof.tests.some((one) => title.startsWith(one)),
      );
      return isListed ? [] : [`${file}: ${title}`];
    }),
  );
  expect(unlisted).toEqual([]);
});

test('every chaos test of this folder belongs to a fault', () => {
  const files = globSync('tests/chaos/*.chaos.test.ts', { cwd: root });
  const listed = new Set(faults.flatMap(({ proofs }) => proofs.map(({ file }) => file)));
  expect(files.filter((file) => !listed.has(file))).toEqual([]);
});

test('every chaos test file with services checks the whole database', () => {
  const files = globSync(['tests/chaos/*.chaos.test.ts', 'tests/chaos/workload/journey.ts'], { cwd: root });
  const withServices = files.filter((file) =>
    /\b(chaosFixture|localRun|startSystem|testContext)\(/.test(readText(file)),
  );
  expect(withServices.length).toBeGreaterThan(10);
  const isChecked = (file: string) => /await find(Database)?Violations\(/.test(readText(file));
  expect(withServices.filter((file) => !isChecked(file))).toEqual([]);
});
