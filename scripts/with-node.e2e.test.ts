/** Tests with-node.cjs in a temporary project with a fake npm. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import memoryLimits from './memory-limits.json' with { type: 'json' };

let project: string;
const installsNode =
  'mkdir -p node_modules/.bin\nprintf "#!/bin/sh\\nexport INSTALLED=yes\\nexec $REAL_NODE \\"\\$@\\"\\n" > node_modules/.bin/node\nchmod +x node_modules/.bin/node';

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'pds-test-'));
  for (const folder of ['scripts', 'bin']) await mkdir(join(project, folder));
  for (const name of ['with-node.cjs', 'install.cjs', 'end-with-parent.cjs', 'memory-limits.json']) {
    await copyFile(join(import.meta.dirname, name), join(project, 'scripts', name));
  }
  for (const tool of ['mkdir', 'chmod', 'sleep', 'sh'])
    await symlink(`/bin/${tool}`, join(project, 'bin', tool));
  await writeFile(join(project, 'package-lock.json'), '{"first":true}');
  await writeFile(
    join(project, 'print.ts'),
    'console.log(process.env.INSTALLED ?? "own", ...process.argv.slice(2));',
  );
  await fakeNpm(installsNode);
});

afterEach(() => rm(project, { recursive: true, force: true }));

test('missing dependencies are installed once and the installed Node is used', async () => {
  expect(await run(['print.ts', 'a', 'b'])).toMatchObject({
    code: 0,
    output: 'yes a b\n',
    errors: 'Installing dependencies (npm ci) …\n',
  });
  expect(await run(['print.ts'])).toMatchObject({ code: 0, output: 'yes\n', errors: '' });
});

test('a changed lock file causes a new installation', async () => {
  await run(['print.ts']);
  await writeFile(join(project, 'package-lock.json'), '{"second":true}');
  expect((await run(['print.ts'])).errors).toContain('Installing');
});

test('two concurrent starts install once and both run', async () => {
  await fakeNpm(`echo run >> npm-runs\nsleep 0.5\n${installsNode}`);
  const both = await Promise.all([run(['print.ts']), run(['print.ts'])]);
  expect(both.map(({ output }) => output)).toEqual(['yes\n', 'yes\n']);
  expect(await readFile(join(project, 'npm-runs'), 'utf8')).toBe('run\n');
});

test('the local run has limits of memory, other scripts have not', async () => {
  const source =
    'console.log(process.execArgv.join(), process.env.MALLOC_ARENA_MAX, process.env.EXPORT_CACHE_MB);';
  await writeFile(join(project, 'print.ts'), source);
  await mkdir(join(project, 'tools', 'local-run'), { recursive: true });
  await writeFile(join(project, 'tools', 'local-run', 'main.ts'), source);
  const { flags, environment } = memoryLimits;
  const limits = ` ${environment.MALLOC_ARENA_MAX} ${environment.EXPORT_CACHE_MB}\n`;
  const { output } = await run(['tools/local-run/main.ts']);
  expect(output).toContain(flags.join());
  expect(output.endsWith(limits)).toBe(true);
  const other = await run(['print.ts']);
  expect(other.output).not.toContain(flags[0]);
  expect(other.output.endsWith(limits)).toBe(false);
  const own = await run(['tools/local-run/main.ts'], [], { EXPORT_CACHE_MB: '99' });
  expect(own.output).toMatch(/ 99\n$/);
});

test('a failed installation is repeated', async () => {
  await fakeNpm(`${installsNode}\nexit 1`);
  expect((await run(['print.ts'])).code).toBe(1);
  await fakeNpm(installsNode);
  expect(await run(['print.ts'])).toMatchObject({ code: 0, output: 'yes\n' });
});

test('a missing npm or an unreachable registry is reported', async () => {
  await fakeNpm('echo "npm error code ENOTFOUND" >&2; exit 1');
  expect(await run(['print.ts'])).toMatchObject({
    code: 1,
    errors: expect.stringContaining('Cannot reach the npm registry. Check the network'),
  });
  await rm(join(project, 'bin', 'npm'));
  const { code, errors } = await run(['print.ts']);
  expect(code).toBe(1);
  expect(errors).toContain('npm was not found. Install Node.js with npm, then run this again.');
});

test('the current Node is used if the installed one does not run', async () => {
  await fakeNpm(
    'mkdir -p node_modules/.bin\nprintf "#!/no/such/program\\n" > node_modules/.bin/node\nchmod +x node_modules/.bin/node',
  );
  expect(await run(['print.ts'])).toMatchObject({ code: 0, output: 'own\n' });
  const { code, errors } = await run(['print.ts'], ['--require', await fakeNodeVersion('20.20.2')]);
  expect(code).toBe(1);
  expect(errors).toMatch(/^Node 22\.22 or newer is required, but this is Node 20\.20\.2\. .*\n$/);
});

test('--bin runs a tool of node_modules and reports a missing one', async () => {
  await fakeNpm(`${installsNode}\nprintf "console.log('tool', process.argv[2])" > node_modules/.bin/tool`);
  expect(await run(['--bin', 'tool', 'x'])).toMatchObject({ code: 0, output: 'tool x\n' });
  expect((await run(['--bin', 'nothing'])).errors).toBe('node_modules/.bin has no tool nothing.\n');
});

test('with-node.cjs returns the exit code of the script', async () => {
  await writeFile(join(project, 'seven.ts'), 'process.exitCode = 7;');
  await writeFile(join(project, 'killed.ts'), "process.kill(process.pid, 'SIGKILL');");
  expect((await run(['seven.ts'])).code).toBe(7);
  expect((await run(['killed.ts'])).code).toBe(137);
});

test('a repeated signal reaches the script once', async () => {
  const { child, script } = await startWaitingScript();
  const lines: string[] = [];
  script.on('line', (line) => lines.push(line));
  child.kill('SIGINT');
  child.kill('SIGINT');
  const code = await new Promise((done) => child.on('close', done));
  expect(lines).toEqual(['SIGINT']);
  expect(code).toBe(3);
});

test('a script ends when its parent process is killed', async () => {
  const { child, pid } = await startWaitingScript();
  child.kill('SIGKILL');
  await until('the script to end', async () => !isAlive(pid));
});

type Outcome = { code: number | null; output: string; errors: string };

async function run(words: string[], flags: string[] = [], env = {}): Promise<Outcome> {
  const child = start(words, flags, env);
  const outcome: Outcome = { code: null, output: '', errors: '' };
  child.stdout?.on('data', (part) => (outcome.output += part));
  child.stderr?.on('data', (part) => (outcome.errors += part));
  outcome.code = await new Promise((done) => child.on('close', done));
  return outcome;
}

function start(words: string[], flags: string[] = [], env = {}): ChildProcess {
  return spawn(process.execPath, [...flags, join(project, 'scripts', 'with-node.cjs'), ...words], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: join(project, 'bin'),
      REAL_NODE: process.execPath,
      PDS_CACHE_DIR: join(project, 'cache'),
      ...env,
    },
  });
}

/** Starts a script that waits for a signal, prints it and exits with 3. */
async function startWaitingScript() {
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function fakeNpm(commands: string): Promise<void> {
  const file = join(project, 'bin', 'npm');
  await writeFile(file, `#!/bin/sh\n${commands}\n`);
  await chmod(file, 0o755);
}

async function fakeNodeVersion(version: string): Promise<string> {
  const file = join(project, 'old.cjs');
  const versions = `{ ...process.versions, node: '${version}' }`;
  await writeFile(file, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  return file;
}
