/** Follows docs/quickstart.md: extracts its code blocks and runs them against a started system. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findTestProgram, freePorts } from '#libs/testing';
import { createFreshCopy } from '../docs-commands/fresh-copy.ts';
import { type LocalRun, localRun } from '../local-run.ts';
import { createUserPath, runOrThrow } from '../typescript-client/programs.ts';
import { type CodeBlock, readQuickStart } from './page.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const root = join(import.meta.dirname, '../..');
const languages = ['sh', 'ts', 'python'];
const isProgramStart = ({ text }: CodeBlock) => /^(node|python3) quickstart/.test(text);
const isReceiver = ({ text }: CodeBlock) => text.includes('receiver.mjs');
/** What every language prints. */
const output =
  /Closing the till[\s\S]*published[\s\S]*http:\S+\/embed\/[\s\S]*delivered[\s\S]*Count the cash/;

let blocks: CodeBlock[];
/** The folder of a fresh clone, and the folder that the page creates in it. */
let [clone, work] = ['', ''];
let dataDir: string;
let service: LocalRun;
let terminal: Terminal;
let env: Record<string, string | undefined>;
let receiverPort: number;

beforeAll(async () => {
  blocks = await readQuickStart();
  dataDir = await mkdtemp(join(tmpdir(), 'pds-quickstart-'));
  const [port = 0, managementPort = 0, freePort = 0] = await freePorts(3);
  receiverPort = freePort;
  // a fixed port, because public links begin with it
  const ports = { PORT: String(port), MANAGEMENT_PORT: String(managementPort) };
  [clone, service] = await Promise.all([createFreshCopy(), localRun(dataDir, ports)]);
  work = join(clone, 'quickstart');
  env = {
    PATH: createUserPath([dirname(process.execPath)]),
    HOME: process.env.HOME,
    PORT: String(receiverPort),
    npm_config_audit: 'false',
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
  terminal = openTerminal(clone, env);
  const [start, ...setup] = listCommands('Start the service');
  expect(start).toBe('npm start\n');
  for (const text of setup) await terminal.run(text);
}, 600_000);

afterAll(async () => {
  await terminal?.close();
  service?.process.kill('SIGTERM');
  await service?.exited;
  for (const folder of [clone, dataDir]) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** The commands of a section, with the addresses of this test. */
function listCommands(section: string): string[] {
  return blocks.filter((block) => block.section === section && block.language === 'sh').map(useAddresses);
}

/** Replaces the documented addresses with those of this test. */
function useAddresses({ text }: Pick<CodeBlock, 'text'>): string {
  return text
    .replaceAll('http://127.0.0.1:8080', service.origin)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${receiverPort}`)
    .replaceAll(/\b3000\b/g, String(receiverPort));
}

/** Writes all blocks of a language to one file, as the page asks for, and runs it. Returns what it prints. */
async function runProgram(language: string, name: string): Promise<string> {
  const program = blocks.filter((block) => block.language === language).map(useAddresses);
  await rm(join(work, 'closing-the-till.docx'), { force: true });
  await writeFile(join(work, name), program.join('\n'));
  const start = blocks.find((block) => isProgramStart(block) && block.text.includes(name));
  const own = openTerminal(work, env);
  return own.run(start?.text ?? `false # the page does not run ${name}`).finally(own.close);
}

const readWordFile = async () =>
  (await readFile(join(work, 'closing-the-till.docx'))).subarray(0, 2).toString();

test('each step of the quick start has a block in every language', () => {
  const steps = [...new Set(blocks.map(({ section }) => section))].filter((name) => /^\d/.test(name));
  expect(steps).toHaveLength(7);
  for (const step of steps) {
    const found = blocks.filter(({ section }) => section === step).map(({ language }) => language);
    expect([step, [...new Set(found)]]).toEqual([step, languages]);
  }
});

test('the curl blocks of the quick start work', async () => {
  if (!(await findTestProgram('jq', { from: 'jq', purpose: 'The quick start with curl' }))) return;
  const receiver = openTerminal(work, env);
  try {
    let printed = '';
    const steps = blocks.filter(({ section, language }) => /^\d/.test(section) && language === 'sh');
    for (const block of steps)
      if (isReceiver(block)) await receiver.start(useAddresses(block), /Listening/);
      else printed += await terminal.run(useAddresses(block));
    expect(printed).toMatch(output);
    expect(printed).toContain('Count the coins\nCount the notes\n');
    expect(receiver.printed()).toContain('webhook.test');
    expect(await readWordFile()).toBe('PK');
  } finally {
    await receiver.close();
  }
}, 600_000);

test('the TypeScript blocks of the quick start compile and work', async () => {
  const printed = await runProgram('ts', 'quickstart.mts');
  expect(printed).toMatch(output);
  expect(printed).toContain('Received webhook.test\ndelivered\n');
  expect(await readWordFile()).toBe('PK');
  const compilerOptions = {
    ...{ target: 'es2024', module: 'nodenext', strict: true, noEmit: true },
    ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  };
  const settings = { compilerOptions, files: ['quickstart.mts'] };
  await writeFile(join(work, 'tsconfig.json'), JSON.stringify(settings));
  await runOrThrow(join(root, 'node_modules/.bin/tsc'), ['-p', work], { env });
}, 600_000);

test('the Python blocks of the quick start work', async () => {
  if (!(await findTestProgram('python3', { from: 'python3', purpose: 'The quick start with Python' })))
    return;
  const printed = await runProgram('python', 'quickstart.py');
  expect(printed).toMatch(output);
  expect(printed).toContain('Received webhook.test\n');
  expect(await readWordFile()).toBe('PK');
}, 600_000);
