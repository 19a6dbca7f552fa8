/** Tests the files of the repository that tools of its users and of GitHub read. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const packageJson = JSON.parse(read('package.json'));

test('editors, containers and npm use the same Node', () => {
  const version = read('.nvmrc').trim();
  expect(new Set(Object.values(packageJson.optionalDependencies))).toEqual(new Set([version]));
  expect(read('Dockerfile')).toContain(`ARG BUILD_BASE=node:${version}-bookworm-slim\n`);
  expect(read('.github/workflows/ci.yaml')).toContain(`image: "node:${version}-bookworm"`);
});

test('the workflow and the templates use npm scripts that exist', () => {
  const paths = globSync('.github/**/*.{yaml,yml,md}', { cwd: root });
  const scripts = paths.flatMap((path) =>
    [...read(path).matchAll(/\bnpm (?:run )?(?:--silent )?([a-z][\w:]*)/g)].map(([, script = '']) => script),
  );
  expect(scripts.filter((script) => !(script in packageJson.scripts))).toEqual([]);
  expect(scripts).toEqual(expect.arrayContaining(['ok', 'test', 'test:e2e', 'lint:charts']));
});

test('links of the files in .github lead to files', () => {
  for (const path of globSync('.github/**/*.md', { cwd: root }))
    for (const [, link = ''] of read(path).matchAll(/\]\(([^)]+)\)/g))
      expect(read(`.github/${link}`).length).toBeGreaterThan(0);
});
