/** Runs the steps of examples/ci-publish as a runner does: in fresh clones, against real services. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must, type Person, register, type TestApp, testApp } from '#libs/testing';
import { packClient } from '../../scripts/typescript-client/pack.ts';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { createUserPath, type ProgramOutput, runOrThrow, start } from '../typescript-client/programs.ts';

const example = new URL('../../examples/ci-publish', import.meta.url).pathname;
const page = 'sops/closing-the-till.json';

let app: TestApp;
let admin: Person;
/** A folder for all files, and the repository that everybody clones. */
let [folder, origin] = ['', ''];
let env: Record<string, string | undefined>;
/** The steps of the workflow that run commands, with their conditions. */
let steps: { condition: string; commands: string }[];

beforeAll(async () => {
  [app, folder] = await Promise.all([testApp({ services, contracts }), mkdtemp(join(tmpdir(), 'pds-ci-'))]);
  admin = await register(app);
  env = {
    PATH: createUserPath([join(folder, 'global/bin'), dirname(process.execPath)]),
    HOME: folder,
    NPM_CONFIG_PREFIX: join(folder, 'global'),
    npm_config_audit: 'false',
    npm_config_cache: join(folder, 'npm-cache'),
    NODE_DISABLE_COMPILE_CACHE: '1',
    PDS_URL: app.origin,
    PDS_KEY: admin.key,
  };
  steps = await readSteps();
  origin = join(folder, 'origin.git');
  await runOrThrow('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin], { env });
  const first = await clone('first');
  await cp(example, first, { recursive: true });
  await packClient(first);
  await commit(first, 'Add SOPs');
}, 300_000);
afterAll(async () => {
  await app?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Reads the commands of the workflow. */
async function readSteps() {
  const text = await readFile(join(example, 'publish-sops.yaml'), 'utf8');
  const items = text.slice(text.indexOf('    steps:')).split(/^ {6}- /m);
  return items.flatMap((item) => {
    const [, commands] = /^ *run: (.*)$/m.exec(item) ?? [];
    const [, condition = ''] = /^ *if: (.*)$/m.exec(item) ?? [];
    return commands === undefined ? [] : [{ condition, commands }];
  });
}

const git = (cwd: string, ...args: string[]) =>
  runOrThrow('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd, env });
const readOrigin = (path: string) => runOrThrow('git', ['-C', origin, 'show', `main:${path}`], { env });
const countCommits = () => runOrThrow('git', ['-C', origin, 'rev-list', '--count', 'main'], { env });
const listDocuments = (query = '') => must(app, 'GET', `/documents?${query}`, { as: admin.key });

async function clone(name: string): Promise<string> {
  await runOrThrow('git', ['clone', '--quiet', origin, join(folder, name)], { env });
  return join(folder, name);
}

async function commit(cwd: string, message: string): Promise<void> {
  await git(cwd, 'add', '--all');
  await git(cwd, 'commit', '--quiet', '--message', message);
  await git(cwd, 'push', '--quiet', 'origin', 'HEAD:main');
}

/** Changes the page in a new clone and pushes it. */
async function changePage(name: string, change: (content: Record<string, unknown>) => object): Promise<void> {
  const cwd = await clone(name);
  const content = JSON.parse(await readFile(join(cwd, page), 'utf8'));
  await writeFile(join(cwd, page), JSON.stringify({ ...content, ...change(content) }, null, 2));
  await commit(cwd, 'Change an SOP');
}

/** Runs the job for an event in a fresh clone. `before` is called before the last step. */
async function runJob(name: string, event: string, before = async () => {}): Promise<ProgramOutput> {
  const cwd = await clone(name);
  const selected = steps.filter(({ condition }) => condition === '' || condition.includes(`'${event}'`));
  const [last, ...first] = selected.map(({ commands }) => commands).reverse();
  for (const commands of first.reverse()) await runOrThrow('bash', ['-e', '-c', commands], { cwd, env });
  await before();
  return start('bash', ['-e', '-c', last ?? 'false'], { cwd, env }).ended;
}

test('a pull request shows what would be published, and changes nothing', async () => {
  const { code, stdout } = await runJob('pull-request', 'pull_request');
  expect([code, stdout]).toEqual([0, expect.stringContaining(page)]);
  expect(await listDocuments()).toEqual([]);
});

test('a push publishes new and changed SOPs, and commits their ids', async () => {
  const { code, stderr } = await runJob('run-1', 'push');
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const [document] = await listDocuments('status=published');
  expect(document).toMatchObject({ title: 'Closing the till', version: '1.0' });
  expect(JSON.parse(await readOrigin(page)).id).toBe(document.id);

  await changePage('change-1', () => ({ version: '1.1', department: 'Shops' }));
  expect((await runJob('run-2', 'push')).code).toBe(0);
  const published = await listDocuments('status=published');
  expect(published).toMatchObject([{ version: '1.1', department: 'Shops', parent_doc_id: document.id }]);

  const commits = await countCommits();
  expect((await runJob('run-3', 'push')).code).toBe(0);
  expect(await countCommits()).toBe(commits);
});

test('ids are pushed when others push during the run', async () => {
  await changePage('change-2', () => ({ version: '1.2' }));
  const other = await clone('other');
  const { code, stderr } = await runJob('run-4', 'push', async () => {
    await writeFile(join(other, 'README.md'), 'Our SOPs\n');
    await commit(other, 'Explain the repository');
  });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const [{ id }] = await listDocuments('status=published');
  expect(JSON.parse(await readOrigin(page)).id).toBe(id);
  expect(await readOrigin('README.md')).toBe('Our SOPs\n');
});

test('a change in the service is not overwritten, and the job fails', async () => {
  const [{ id }] = await listDocuments('status=published');
  await must(app, 'PATCH', `/documents/${id}`, { as: admin.key, body: { department: 'Changed here' } });
  await changePage('change-3', () => ({ version: '1.3' }));
  expect((await runJob('run-5', 'push')).code).toBe(5);
  expect(await listDocuments('status=published')).toMatchObject([{ id, department: 'Changed here' }]);
});
