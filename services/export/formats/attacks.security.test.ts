/** Tests hostile uploads: each is rejected or compiled quickly and with little memory. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { slowness } from '#libs/testing';
import { attacks } from '../../../tests/word/attacks.ts';
import { compile, createDocument, createNode, renderParts } from '../../../tests/word/samples.ts';

/** Compiles files and prints the result of each and the peak memory in MiB. */
const PROGRAM = `
  const { compileTemplate } = await import(process.argv[1]);
  const { readFile } = await import('node:fs/promises');
  const verdicts = [];
  for (const path of process.argv.slice(2)) {
    const compilation = await compileTemplate(await readFile(path));
    verdicts.push(compilation.ok ? 'accepted' : compilation.fault.code);
  }
  console.log(JSON.stringify({ verdicts, mebibytes: process.resourceUsage().maxRSS / 1024 }));
`;

let outcome: { verdicts: string[]; mebibytes: number };

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pds-attacks-'));
  try {
    const paths: string[] = [];
    for (const [index, { create }] of attacks.entries()) {
      paths.push(join(folder, `${index}.docx`));
      await writeFile(join(folder, `${index}.docx`), create());
    }
    const flags = ['--input-type=module', '--max-old-space-size=400', '-e', PROGRAM];
    const template = new URL('./template.ts', import.meta.url).href;
    // an algorithm of quadratic time exceeds this timeout
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, template, ...paths], {
      timeout: 110_000 * slowness,
    });
    outcome = JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test.each(attacks.map(({ name, verdict }, at) => [name, verdict, at] as const))(
  'the hostile upload "%s" is %s',
  (_name, verdict, at) => {
    expect(outcome.verdicts[at]).toBe(verdict);
  },
);

test('compiling all hostile uploads needs less than 600 MiB', () => {
  expect(outcome.mebibytes).toBeLessThan(600);
});

test.each(['relationships named like properties of every object', 'numbers that are too large'])(
  'a hostile template with %s can be rendered',
  async (name) => {
    const template = await compile(
      attacks.find((attack) => attack.name === name)?.create() ?? new Uint8Array(),
    );
    for (const warning of template.warnings) expect(typeof warning).toBe('string');
    expect(JSON.parse(JSON.stringify(template.plan))).toEqual(template.plan);
    const { 'word/document.xml': xml } = await renderParts(createDocument([createNode('First')]), template);
    expect(xml).toContain('First');
  },
);
