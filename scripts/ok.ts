/** Runs all checks that a change must pass (`npm run ok`), and prints the result and the time of each. */
import { type ChildProcess, spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { denoBinary } from './deno-binary.ts';

type Outcome = { code: number; output: string };
type Step = { name: string; run(): Promise<Outcome> };

const root = resolve(import.meta.dirname, '..');
const modules = join(root, 'node_modules');

const steps: Step[] = [
  { name: 'client', run: () => script('typescript-client/generate.ts') },
  { name: 'types', run: () => tool('tsc', '-p', '.') },
  { name: 'types of client', run: () => tool('tsc', '-p', 'clients/typescript', '--noEmit') },
  { name: 'format and lint', run: () => tool('biome', 'check', '.') },
  { name: 'generated files', run: () => script('generate.ts', '--check') },
  { name: 'API reference', run: () => script('lint-openapi.ts') },
  { name: 'deno check', run: denoCheck },
];
if (!process.argv.includes('--no-tests')) steps.push({ name: 'tests', run: () => script('test.ts', 'test') });

let running: ChildProcess | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    running?.kill('SIGTERM');
    process.exit(130);
  });
}

const failed: string[] = [];
for (const { name, run } of steps) {
  const start = performance.now();
  const { code, output } = await run();
  const time = `${((performance.now() - start) / 1000).toFixed(1)} s`;
  console.log(`${code === 0 ? '✓' : '✗'} ${name.padEnd(16)} ${time.padStart(7)}`);
  if (code === 0) continue;
  failed.push(name);
  console.log(`\n${output.trim()}\n`);
}
console.log(
  failed.length === 0
    ? `\nAll ${steps.length} checks passed.`
    : `\n${failed.length} of ${steps.length} checks failed: ${failed.join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

function tool(name: string, ...args: string[]): Promise<Outcome> {
  return command(join(modules, '.bin', name), ...args);
}

function script(name: string, ...args: string[]): Promise<Outcome> {
  const guard = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const flags = ['--disable-warning=ExperimentalWarning', ...guard];
  return command(process.execPath, ...flags, join(root, 'scripts', name), ...args);
}

/**
 * Type-checks with Deno what runs under Deno: the services, libraries and the client, without code that only Node or
 * tests use.
 */
async function denoCheck(): Promise<Outcome> {
  const deno = await denoBinary().catch((error: Error) => error);
  if (typeof deno !== 'string') return { code: 1, output: deno.message };
  const mains = [
    'services/all.ts',
    'services/*/main.ts',
    'scripts/deno-ends-with-parent.ts',
    'clients/typescript/src/mod.ts',
    'clients/typescript/src/cli/main.ts',
  ];
  const files = globSync([...mains, 'libs/*/mod.ts'], { cwd: root });
  return command(deno, 'check', '--quiet', ...files);
}

function command(file: string, ...args: string[]): Promise<Outcome> {
  return new Promise((done) => {
    const child = spawn(file, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', PDS_PARENT_PID: String(process.pid) },
    });
    running = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part) => (output += part));
    child.on('error', (error) => done({ code: 1, output: error.message }));
    child.on('close', (code) => done({ code: code ?? 1, output }));
  });
}
