/** Tests the files of the repository that tools of its users and of GitHub read. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { about } from '../services/about.ts';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const packageJson = JSON.parse(read('package.json'));

test('every file names the version of the package', () => {
  const { version } = packageJson;
  const lock = JSON.parse(read('package-lock.json'));
  expect([lock.version, lock.packages[''].version, about.version]).toEqual([version, version, version]);
  for (const chart of ['platform', 'service']) {
    const versions = [...read(`charts/${chart}/Chart.yaml`).matchAll(/\b(?:v|appV)ersion: "?([\d.]+)/g)];
    expect(versions.map(([, found]) => found)).toEqual(Array(chart === 'platform' ? 7 : 1).fill(version));
  }
  expect(read('docs/kubernetes.md')).toContain(`process-document-service:${version} .`);
  expect(JSON.parse(read('clients/typescript/package.json')).version).toBe(version);
  const pages = ['clients/typescript/README.md', 'docs/cli.md', 'docs/quickstart.md'];
  for (const page of [...pages, 'examples/git-sync/package.json', 'examples/ci-publish/publish-sops.yaml'])
    expect(read(page)).toContain(`process-document-service-client-${version}.tgz`);
  expect(read('clients/python/pyproject.toml')).toContain(`\nversion = "${version}"\n`);
  const wheels = [
    ...read('clients/python/README.md').matchAll(/process_document_service-(.+?)-py3-none-any/g),
  ];
  expect(wheels.map(([, found]) => found)).toEqual([version, version]);
});

test('the changelog and the upgrade notes describe the version', () => {
  const { version } = packageJson;
  const headings = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings.slice(0, 2)).toEqual(['Unreleased', expect.stringMatching(/ - \d{4}-\d\d-\d\d$/)]);
  expect(headings[1]).toMatch(version);
  const minor = version.replace(/\d+$/, '0');
  expect(read('docs/upgrading.md')).toContain(`\n## To ${minor}\n`);
});

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
