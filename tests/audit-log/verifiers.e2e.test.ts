/** Runs the programs of the docs and `pds audit verify` on the export of a running service. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findTestProgram, publishDocument, register, type TestApp, testApp, until } from '#libs/testing';
import { denoBinary } from '../../scripts/deno-binary.ts';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';

const root = new URL('../..', import.meta.url).pathname;
const docs = join(root, 'docs/audit-log');

let app: TestApp;
let folder: string;
let lines: string[];
const hashes = () => lines.map((line): string => JSON.parse(line).hash);

beforeAll(async () => {
  app = await testApp({ services, contracts });
  folder = await mkdtemp(join(tmpdir(), 'audit-log-'));
  const ada = await register(app);
  for (const title of ['Öffnen 🔑', '"Quotes" \\ and \t tabs', '=1+1', '\u2028\u007f'])
    await publishDocument(app, ada.key, { title });
  lines = await until('five entries', async () => {
    const { bytes } = await app.request('GET', '/audit-log/export', { as: ada.key });
    const found = new TextDecoder().decode(bytes).trimEnd().split('\n');
    return found.length >= 5 ? found : undefined;
  });
});
afterAll(async () => {
  await app?.stop();
  if (folder) await rm(folder, { recursive: true });
});

/** Verifies lines. Returns the exit code and what the program printed. */
async function verify(program: string, args: string[], log: string[], checks: string[] = []) {
  const file = join(folder, 'log.jsonl');
  await writeFile(file, `${log.join('\n')}\n`);
  const { PATH, HOME } = process.env;
  return new Promise<[number, string]>((resolve) => {
    const options = { cwd: root, env: { PATH, HOME } };
    execFile(program, [...args, file, ...checks], options, (error, out, errors) =>
      resolve([error ? Number(error.code) : 0, out + errors]),
    );
  });
}

async function checkProgram(program: string, args: string[]): Promise<void> {
  const newest = hashes().at(-1) ?? '';
  const valid = await verify(program, args, lines, ['--from', '1', '--hash', newest]);
  expect(valid).toEqual([0, expect.stringContaining(newest)]);
  expect((await verify(program, args, lines.slice(2)))[0]).toBe(0);
  const swapped = [...lines.slice(0, 2), ...lines.slice(2, 4).reverse(), ...lines.slice(4)];
  expect(await verify(program, args, swapped)).toEqual([1, expect.stringMatching(/Line 3: 4 follows 2/)]);
  const changed = lines.map((line, at) => (at === 1 ? line.replace('"seq":2', '"seq": 2') : line));
  expect(await verify(program, args, changed)).toEqual([1, expect.stringMatching(/Line 2/)]);
  const cut = await verify(program, args, lines.slice(0, -1), ['--hash', newest]);
  expect(cut).toEqual([1, expect.stringContaining('does not contain')]);
}

test('the Python program of the docs verifies an export', async () => {
  const python = await findTestProgram('python3', { from: 'python3', purpose: 'The audit log in Python' });
  if (python) await checkProgram(python, ['-B', join(docs, 'verify_audit_log.py')]);
});

test('the TypeScript program of the docs verifies an export under Deno', async () => {
  await checkProgram(await denoBinary(), ['run', '--allow-read', join(docs, 'verify-audit-log.ts')]);
});

test('pds audit verify verifies an export', async () => {
  const flags = ['--disable-warning=ExperimentalWarning', 'scripts/pds.ts'];
  await checkProgram(process.execPath, [...flags, 'audit', 'verify']);
});
