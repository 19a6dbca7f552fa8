/** Tests that the list of faults names existing tests, and that every on-demand test belongs to a fault. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isOnDemand, onDemandFolder } from './fault.ts';
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

test('every on-demand test names its fault, which lists it', () => {
  const files = globSync(`${onDemandFolder}*.test.ts`, { cwd: root });
  expect(files.length).toBeGreaterThan(0);
  const unnamed = files.flatMap((file) =>
    [...readText(file).matchAll(/^test\('([^']*)| {2}\[?'(F\d+: [^']*)/gm)].flatMap(
      ([, one, ofTable = '']) => {
        const title = one ?? ofTable;
        const [, id] = /^(F\d+): /.exec(title) ?? [];
        const proofs = faults.find((one) => one.id === id)?.proofs ?? [];
        const isNamed = proofs.some(
          (proof) => proof.file === file && proof.tests.some((one) => title.startsWith(one)),
        );
        return isNamed ? [] : [`${file}: ${title}`];
      },
    ),
  );
  expect(unnamed).toEqual([]);
  const named = new Set(faults.flatMap(({ proofs }) => proofs.filter(isOnDemand).map(({ file }) => file)));
  expect(named).toEqual(new Set(files));
});
