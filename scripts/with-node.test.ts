/** The first step on any machine, in a made-up project with a made-up npm: what is installed, which Node runs, what is said. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let project: string;
const brought =
  'mkdir -p node_modules/.bin\nprintf "#!/bin/sh\\nexport BROUGHT=yes\\nexec $REAL_NODE \\"\\$@\\"\\n" > node_modules/.bin/node\nchmod +x node_modules/.bin/node';

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'pds-test-'));
  for (const folder of ['scripts', 'bin']) await mkdir(join(project, folder));
  for (const name of ['with-node.cjs', 'install.cjs', 'end-with-parent.cjs']) {
    await copyFile(join(import.meta.dirname, name), join(project, 'scripts', name));
  }
  for (const tool of ['mkdir', 'chmod', 'sleep', 'sh'])
    await symlink(`/bin/${tool}`, join(project, 'bin', tool));
  await writeFile(join(project, 'package-lock.json'), '{"first":true}');
  await writeFile(
    join(project, 'say.ts'),
    'console.log(process.env.BROUGHT ?? "own", ...process.argv.slice(2));',
  );
  await npmThat(brought);
});

afterEach(() => rm(project, { recursive: true, force: true }));

test('what is missing is installed once, with one line, and the Node it brought runs the script', async () => {
  expect(await run(['say.ts', 'a', 'b'])).toMatchObject({
    code: 0,
    output: 'yes a b\n',
    errors: 'Installing what the project needs (npm ci) …\n',
  });
  expect(await run(['say.ts'])).toMatchObject({ code: 0, output: 'yes\n', errors: '' });
});

test('a changed lock file is installed again', async () => {
  await run(['say.ts']);
  await writeFile(join(project, 'package-lock.json'), '{"second":true}');
  expect((await run(['say.ts'])).errors).toContain('Installing');
});

test('two that start at the same moment install once, and both run', async () => {
  await npmThat(`echo run >> npm-runs\nsleep 0.5\n${brought}`);
  const both = await Promise.all([run(['say.ts']), run(['say.ts'])]);
  expect(both.map(({ output }) => output)).toEqual(['yes\n', 'yes\n']);
  expect(await readFile(join(project, 'npm-runs'), 'utf8')).toBe('run\n');
});

test('an install that broke off is not taken for complete', async () => {
  await npmThat(`${brought}\nexit 1`);
  expect((await run(['say.ts'])).code).toBe(1);
  await npmThat(brought);
  expect(await run(['say.ts'])).toMatchObject({ code: 0, output: 'yes\n' });
});

test('an npm that is missing or cannot reach the registry is said in a sentence', async () => {
  await npmThat('echo "npm error code ENOTFOUND" >&2; exit 1');
  expect(await run(['say.ts'])).toMatchObject({
    code: 1,
    errors: expect.stringContaining('The npm registry cannot be reached: check the network'),
  });
  await rm(join(project, 'bin', 'npm'));
  const { code, errors } = await run(['say.ts']);
  expect(code).toBe(1);
  expect(errors).toContain('npm was not found: install Node.js together with npm, then run this again.');
});

test('where no Node was brought, or it does not run here, the own one serves if it is new enough', async () => {
  await npmThat(
    'mkdir -p node_modules/.bin\nprintf "#!/no/such/program\\n" > node_modules/.bin/node\nchmod +x node_modules/.bin/node',
  );
  expect(await run(['say.ts'])).toMatchObject({ code: 0, output: 'own\n' });
  const { code, errors } = await run(['say.ts'], ['--require', await pretending('20.20.2')]);
  expect(code).toBe(1);
  expect(errors).toMatch(/^This needs Node 22\.22 or newer, and the Node here is 20\.20\.2: .*\n$/);
});

test('a tool out of node_modules runs by its name, and a missing one is said', async () => {
  await npmThat(`${brought}\nprintf "console.log('tool', process.argv[2])" > node_modules/.bin/tool`);
  expect(await run(['--bin', 'tool', 'x'])).toMatchObject({ code: 0, output: 'tool x\n' });
  expect((await run(['--bin', 'nothing'])).errors).toBe('There is no tool nothing in node_modules/.bin.\n');
});

test('the exit code of the script is the exit code', async () => {
  await writeFile(join(project, 'seven.ts'), 'process.exitCode = 7;');
  await writeFile(join(project, 'killed.ts'), "process.kill(process.pid, 'SIGKILL');");
  expect((await run(['seven.ts'])).code).toBe(7);
  expect((await run(['killed.ts'])).code).toBe(137);
});

test('a signal reaches the script once, even when it comes twice, and its orderly end counts', async () => {
  const { child, script } = await waiting();
  const lines: string[] = [];
  script.on('line', (line) => lines.push(line));
  child.kill('SIGINT');
  child.kill('SIGINT');
  const code = await new Promise((done) => child.on('close', done));
  expect(lines).toEqual(['SIGINT']);
  expect(code).toBe(3);
});

test('a script ends when what started it is killed', async () => {
  const { child, pid } = await waiting();
  child.kill('SIGKILL');
  await expect(gone(pid, 5_000)).resolves.toBe(true);
});

type Outcome = { code: number | null; output: string; errors: string };

async function run(words: string[], flags: string[] = []): Promise<Outcome> {
  const child = start(words, flags);
  const outcome: Outcome = { code: null, output: '', errors: '' };
  child.stdout?.on('data', (part) => (outcome.output += part));
  child.stderr?.on('data', (part) => (outcome.errors += part));
  outcome.code = await new Promise((done) => child.on('close', done));
  return outcome;
}

function start(words: string[], flags: string[] = []): ChildProcess {
  return spawn(process.execPath, [...flags, join(project, 'scripts', 'with-node.cjs'), ...words], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: join(project, 'bin'), REAL_NODE: process.execPath, PDS_CACHE_DIR: join(project, 'cache') },
  });
}

/** A script that waits for a signal, says it and ends with 3. */
async function waiting() {
  const source = `
    process.on('SIGINT', () => { console.log('SIGINT'); setTimeout(() => process.exit(3), 100); });
    setInterval(() => {}, 60_000);
    console.log(process.pid);`;
  await writeFile(join(project, 'wait.ts'), source);
  const child = start(['wait.ts']);
  if (!child.stdout) throw new Error('no output');
  const script = createInterface(child.stdout);
  const pid = await new Promise<number>((up) => script.once('line', (line) => up(Number(line))));
  return { child, script, pid };
}

async function gone(pid: number, limitMs: number): Promise<boolean> {
  const until = Date.now() + limitMs;
  while (Date.now() < until) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
}

async function npmThat(does: string): Promise<void> {
  const file = join(project, 'bin', 'npm');
  await writeFile(file, `#!/bin/sh\n${does}\n`);
  await chmod(file, 0o755);
}

async function pretending(version: string): Promise<string> {
  const file = join(project, 'old.cjs');
  const versions = `{ ...process.versions, node: '${version}' }`;
  await writeFile(file, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  return file;
}
