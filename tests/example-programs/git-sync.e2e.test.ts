/** Runs examples/git-sync in a Git repository with the packed client, against real services. */
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must, type Person, register, type TestApp, testApp } from '#libs/testing';
import { packClient } from '../../scripts/typescript-client/pack.ts';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { encodePng } from '../fixtures/generators/png.ts';
import { type ProgramOutput, runOrThrow, start } from '../typescript-client/programs.ts';

const example = new URL('../../examples/git-sync', import.meta.url).pathname;
const page = 'sops/closing-the-till.md';

let app: TestApp;
let admin: Person;
/** A folder for the repositories, and the repository of the example. */
let [folder, repository] = ['', ''];
let env: Record<string, string | undefined>;

beforeAll(async () => {
  [app, folder] = await Promise.all([
    testApp({ services, contracts }),
    mkdtemp(join(tmpdir(), 'pds-git-sync-')),
  ]);
  admin = await register(app);
  repository = join(folder, 'repository');
  env = {
    ...{ HOME: process.env.HOME, NODE_DISABLE_COMPILE_CACHE: '1', npm_config_audit: 'false' },
    ...{ PDS_URL: app.origin, PDS_KEY: admin.key },
  };
  await cp(example, repository, { recursive: true, filter: (path) => !path.includes('node_modules') });
  await packClient(repository);
  // npm needs the settings of the machine, such as a proxy
  await runOrThrow('npm', ['install'], { cwd: repository, env: { ...process.env, ...env } });
  await writeFile(join(repository, '.gitignore'), 'node_modules\n');
  await git('init', '--quiet');
}, 300_000);
afterAll(async () => {
  await app?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const read = (name: string) => readFile(join(repository, name), 'utf8');
const write = (name: string, text: string) => writeFile(join(repository, name), text);
const get = (path: string) => must(app, 'GET', path, { as: admin.key });
const listTitles = async (status: string) =>
  (await get(`/documents?status=${status}`)).map(({ title }: { title: string }) => title);
const git = (...args: string[]) =>
  runOrThrow('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    cwd: repository,
  });
const sync = (): Promise<ProgramOutput> =>
  start(process.execPath, ['--disable-warning=ExperimentalWarning', 'sync.ts', 'sops'], {
    cwd: repository,
    env,
  }).ended;
const edit = async (name: string, from: string, to: string) =>
  write(name, (await read(name)).replace(from, to));

test('pages of a Git repository become published SOPs and new versions', async () => {
  await write('sops/coins.png', '');
  await writeFile(
    join(repository, 'sops/coins.png'),
    encodePng(2, 2, () => [200, 150, 0, 255]),
  );
  await edit(page, '1. Sort the coins.', '![Coins](coins.png)\n\n1. Sort the coins.');
  expect(await sync()).toEqual({ code: 0, stdout: `${page}: created and published\n`, stderr: '' });

  const [, id = ''] = /^---\nid: (\S+)\n/.exec(await read(page)) ?? [];
  const document = await get(`/documents/${id}`);
  expect(document).toMatchObject({
    ...{ title: 'Closing the till', status: 'published', version: '1.0', department: 'Shops' },
    nodes: [
      {
        title: 'Count the cash',
        content: { content: [{ type: 'paragraph' }, { type: 'callout', attrs: { kind: 'warning' } }] },
        children: [
          {
            title: 'Count the coins',
            content: {
              content: [{ content: [{ type: 'image' }] }, { type: 'orderedList' }, { type: 'table' }],
            },
          },
          {
            title: 'Count the notes',
            content: { content: [{ type: 'taskList' }] },
            children: [{ node_type: 'sub_step', title: 'If the sum is wrong' }],
          },
        ],
      },
    ],
  });
  const strict = { title: 'Copy', nodes: removeIds(document.nodes) };
  await must(app, 'POST', '/documents?strict=true', { as: admin.key, body: strict, status: 201 });

  await git('add', '.');
  await git('commit', '--quiet', '--message', 'Add the ids of new SOPs');
  expect(await git('status', '--porcelain')).toBe('');
  expect((await sync()).stdout).toBe(`${page}: unchanged\n`);

  await edit(page, 'version: 1.0', 'version: 1.1');
  await edit(page, 'Count again.', 'Count a second time.');
  await rename(join(repository, page), join(repository, 'sops/till.md'));
  expect((await sync()).stdout).toBe('sops/till.md: revised and published\n');
  const versions = await get(`/documents/${id}/history`);
  expect(versions.map(({ version }: { version: string }) => version)).toEqual(['1.0', '1.1']);
  expect(JSON.stringify(await get(`/documents/${versions[1].id}`))).toContain('Count a second time.');
  expect((await sync()).stdout).toBe('sops/till.md: unchanged\n');
}, 300_000);

test('rules, byte order marks and other forms of a language are understood', async () => {
  const text = '\uFEFF---\nlanguage: en-us\n---\n# Rules\n\n## One\n\n---\n\nMore text\n\n---\n\nThe end\n';
  await write('sops/rules.md', text);
  await write('sops/plain.md', '# Plain\n\n## One\n\nText\n\n---\n\nid: this is text\n\n---\n\nThe end\n');
  expect(await sync()).toMatchObject({ code: 0, stderr: '' });
  const { stdout } = await sync();
  for (const name of ['plain.md', 'rules.md']) expect(stdout).toContain(`sops/${name}: unchanged\n`);
  await Promise.all(['plain.md', 'rules.md'].map((name) => rm(join(repository, 'sops', name))));
}, 300_000);

test('a page that is a draft is published when it says so', async () => {
  await write('sops/draft.md', '---\ndraft: true\n---\n# Opening the till\n\n## Unlock\n');
  expect((await sync()).stdout).toContain('sops/draft.md: created\n');
  await edit('sops/draft.md', '## Unlock', '## Unlock the door');
  expect((await sync()).stdout).toContain('sops/draft.md: updated\n');
  expect((await sync()).stdout).toContain('sops/draft.md: unchanged\n');
  await edit('sops/draft.md', 'draft: true\n', '');
  expect((await sync()).stdout).toContain('sops/draft.md: published\n');
  expect(await listTitles('published')).toContain('Opening the till');
});

test('an invalid page fails, and the others are synchronized', async () => {
  await must(app, 'PATCH', '/organization', {
    as: admin.key,
    body: { settings: { lock_published: true } },
  });
  await edit('sops/till.md', '# Closing the till', '# Closing the tills');
  await write('sops/invalid.md', '---\nversion: 1\n---\n# Title\n\nText without a section.\n');
  await write('sops/no-image.md', '# Title\n\n## Section\n\n![Coins](lost%20coins.png)\n');
  await write('sops/skipped.md', '# Title\n\n### A step\n');
  await write('sops/typing-error.md', '---\nverson: 1\n---\n# Title\n');
  await write('sops/valid.md', '# Valid\n\n## Section\n');
  const { code, stdout, stderr } = await sync();
  expect(code).toBe(1);
  expect(stdout).toContain('sops/valid.md: created and published\n');
  expect(stderr).toContain('sops/invalid.md: line 6: text has to be in a section\n');
  expect(stderr).toContain('sops/no-image.md: line 5: the image "lost%20coins.png" does not exist\n');
  expect(stderr).toContain('sops/skipped.md: line 3: a step has to be in a section\n');
  expect(stderr).toContain('sops/typing-error.md: "verson: 1" in the front matter');
  // a revision needs another version here; its draft does not stay
  expect(stderr).toMatch(/sops\/till\.md: .*version/);
  expect(await listTitles('draft')).toEqual(['Copy']);
});

/** The nodes as a request has them. */
function removeIds(nodes: Record<string, unknown>[]): unknown[] {
  return nodes.map(({ node_type, title, content, children }) => ({
    ...{ node_type, title, content },
    children: removeIds(children as Record<string, unknown>[]),
  }));
}
