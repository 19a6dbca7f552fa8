/** Checks docs/contracts/openapi.json with Redocly CLI and Spectral (`npm run lint:openapi`). A warning fails. */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installOpenApiTools, offline } from '../tools/openapi/install.ts';

const root = resolve(import.meta.dirname, '..');
const file = join(root, 'docs/contracts/openapi.json');
const config = (name: string) => join(root, 'tools/openapi', name);

const modules = await installOpenApiTools((line) => console.log(line));
const linters = [
  {
    name: 'redocly',
    args: ['lint', file, '--config', config('redocly.yaml'), '--format', 'stylish', '--max-problems', '1000'],
  },
  {
    name: 'spectral',
    args: ['lint', file, '--ruleset', config('spectral.yaml'), '--fail-severity', 'hint'],
  },
];
const results = await Promise.all(linters.map(lint));
for (const { name, isClean, output } of results) {
  console.log(`${isClean ? '✓' : '✗'} ${name}`);
  if (!isClean) console.log(output);
}
process.exitCode = results.every(({ isClean }) => isClean) ? 0 : 1;

async function lint({ name, args }: (typeof linters)[number]) {
  const program = join(modules, '.bin', name);
  const env = { ...process.env, ...offline, NO_COLOR: '1' };
  const run = promisify(execFile)(process.execPath, [program, ...args], {
    cwd: root,
    env,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { stdout, stderr, code } = await run.then(
    (output) => ({ ...output, code: 0 }),
    (error) => error,
  );
  return { name, output: `${stdout}${stderr}`, isClean: code === 0 };
}
