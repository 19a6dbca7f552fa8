/** Runs the samples of docs/webhooks.md in each language on the published test vectors and invalid variants. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findTestProgram, slowness } from '#libs/testing';
import { denoBinary } from '../../scripts/deno-binary.ts';
import { type Case, cases } from './cases.ts';

const samples = new URL('../../docs/webhooks/', import.meta.url).pathname;
const ownFolder = new URL('.', import.meta.url).pathname;
const all = cases();
const timeoutMs = 180_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-receivers-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the receiver cases include valid and invalid signatures of each kind', () => {
  const results = new Set(all.map(({ expected }) => String(expected)));
  expect(results).toEqual(new Set(['true,true', 'true,false', 'false,false']));
  expect(all.length).toBeGreaterThan(60);
});

test(
  'the receiver sample for Node verifies all cases',
  () => expectRight(process.execPath, ['--disable-warning=ExperimentalWarning', `${ownFolder}run.ts`]),
  timeoutMs,
);

test(
  'the receiver sample for Deno verifies all cases',
  async () => expectRight(await denoBinary(), ['run', '--no-config', `${ownFolder}run.ts`]),
  timeoutMs,
);

test(
  'the receiver sample for Python verifies all cases',
  async () => {
    const python = await findTestProgram('python3', { from: 'python3', purpose: 'The sample for Python' });
    if (python) await expectRight(python, ['-B', `${ownFolder}run.py`], { PYTHONPATH: samples });
  },
  timeoutMs,
);

test(
  'the receiver sample for Go verifies all cases',
  async () => {
    const go = await findTestProgram('go', {
      from: 'golang-go',
      purpose: 'The sample for Go',
      also: ['/usr/local/go/bin'],
    });
    if (!go) return;
    await mkdir(join(folder, 'webhook'));
    await writeFile(join(folder, 'go.mod'), 'module receiver\n\ngo 1.19\n');
    await copyFile(`${samples}verify.go`, join(folder, 'webhook', 'verify.go'));
    await copyFile(`${ownFolder}run.go`, join(folder, 'main.go'));
    await expectRight(go, ['run', '.'], { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GOWORK: 'off' });
  },
  timeoutMs,
);

test(
  'the receiver sample for a shell with openssl verifies all cases',
  async () => {
    const openssl = await findTestProgram('openssl', { from: 'openssl', purpose: 'The sample for a shell' });
    if (!openssl) return;
    const script = [
      ...[`. ${samples}verify.sh`, 'set -u', 'ours=false', 'genuine=false'],
      'is_signed "$SECRET" "$OURS" "$BODY_FILE" && ours=true',
      'is_genuine "$SECRET" "$ID" "$TIMESTAMP" "$STANDARD" "$BODY_FILE" "$NOW" && genuine=true',
      'echo "[$ours,$genuine]"',
    ].join('\n');
    const verdicts = [];
    for (const { secret, body, id, timestamp, standard, ours, now } of all) {
      const BODY_FILE = join(folder, 'body');
      await writeFile(BODY_FILE, body);
      const delivery = { SECRET: secret, ID: id, TIMESTAMP: timestamp, STANDARD: standard, OURS: ours };
      const results = await run('sh', ['-c', script], { ...delivery, NOW: String(now), BODY_FILE });
      verdicts.push(JSON.parse(results));
    }
    expectResults(verdicts);
  },
  timeoutMs,
);

async function expectRight(program: string, args: string[], environment = {}): Promise<void> {
  expectResults(JSON.parse(await run(program, args, environment, JSON.stringify(all))));
}

function expectResults(verdicts: unknown[]): void {
  const results = all.map(({ name }, at) => ({ name, verdicts: verdicts[at] }));
  expect(results).toEqual(all.map(({ name, expected }: Case) => ({ name, verdicts: expected })));
}

/** Runs a program in the folder, with the given environment, PATH, HOME and GOCACHE. Returns its output. */
function run(program: string, args: string[], environment: object, input = ''): Promise<string> {
  const { PATH, HOME, GOCACHE } = process.env;
  return new Promise((resolve, reject) => {
    const env = { ...{ PATH, HOME, ...(GOCACHE && { GOCACHE }) }, ...environment };
    const child = execFile(
      program,
      args,
      { cwd: folder, env, timeout: timeoutMs * slowness },
      (error, out, errors) => {
        if (error) reject(new Error(`${program} ended: ${error.message}\n${errors}`));
        else resolve(out);
      },
    );
    // a sample may end before it has read all input; only its output counts
    child.stdin?.on('error', () => undefined).end(input);
  });
}
