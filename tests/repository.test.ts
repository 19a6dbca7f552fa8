/** Tests the files of the repository that tools of its users and of GitHub read. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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

test('the list of decision records names every record', () => {
  const records = globSync('docs/adr/0*.md', { cwd: root }).map((path) => basename(path));
  const listed = [...read('docs/adr/README.md').matchAll(/^\| \d+ \| \[.*?\]\((0.*?\.md)\)/gm)];
  expect(listed.map(([, path]) => path)).toEqual(records.sort());
});

test('links and pictures of all pages lead to files and headings', () => {
  const pages = globSync(['*.md', '.github/**/*.md', '{docs,examples,clients,services}/**/*.md'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  const wrong = pages.flatMap((page) => {
    const text = read(page).replaceAll(/^```.*?^```|`[^`\n]*`/gms, '');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '');
    const inside = links.filter((link) => !/^[a-z]+:/.test(link));
    return inside.flatMap((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      const isFound = existsSync(new URL(target, root));
      const isComplete =
        !anchor || !target.endsWith('.md') || (isFound && listAnchors(target).includes(anchor));
      return isFound && isComplete ? [] : [`${page}: ${link}`];
    });
  });
  expect(wrong).toEqual([]);
  expect(pages.length).toBeGreaterThan(100);
});

/** The anchors that GitHub gives to the headings of a page. */
function listAnchors(page: string): string[] {
  const headings = [
    ...read(page)
      .replaceAll(/^```.*?^```/gms, '')
      .matchAll(/^#+ (.*)$/gm),
  ];
  return headings.map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

test('the first pages are short, and their pictures are small', () => {
  const count = (page: string) => read(page).trimEnd().split('\n').length;
  expect(count('README.md')).toBeLessThanOrEqual(100);
  expect(count('ARCHITECTURE.md')).toBeLessThanOrEqual(150);
  expect(count('CONTRIBUTING.md')).toBeLessThanOrEqual(120);
  const pictures = globSync('docs/images/*', { cwd: root });
  expect(pictures.length).toBeGreaterThan(1);
  for (const picture of pictures) {
    expect(statSync(new URL(picture, root)).size).toBeLessThanOrEqual(150_000);
    const isShown = ['README.md', 'docs/import.md'].some((page) => read(page).includes(basename(picture)));
    expect([picture, isShown]).toEqual([picture, true]);
  }
});
