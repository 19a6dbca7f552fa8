/** Tests hostile files: each is rejected or imported quickly and with little memory, and nothing is written. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { slowness } from '#libs/testing';
import { importAttacks } from '../../../tests/imports/attacks.ts';
import { attacks as templateAttacks } from '../../../tests/word/attacks.ts';

/** Converts files and prints the verdict and the time of each, and the peak memory in MiB. */
const program = `
  const { convertFile } = await import(process.argv[1]);
  const { readFile } = await import('node:fs/promises');
  const { basename } = await import('node:path');
  const outcomes = [];
  for (const path of process.argv.slice(2)) {
    const start = performance.now();
    const bytes = new Uint8Array(await readFile(path));
    const result = await convertFile({ name: basename(path), bytes, acceptChanges: false });
    const verdict = result.ok ? 'accepted' : result.fault.reason ?? result.fault.limit;
    outcomes.push({ verdict, seconds: (performance.now() - start) / 1000 });
  }
  console.log(JSON.stringify({ outcomes, mebibytes: process.resourceUsage().maxRSS / 1024 }));
`;

interface Outcome {
  verdict: string;
  seconds: number;
}

const files = [
  ...importAttacks,
  ...templateAttacks.map(({ name, create }) => ({ name, create, fileName: 'a.docx', verdict: undefined })),
];
let outcomes: Outcome[] = [];
let mebibytes = 0;
let left: string[] = [];

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pds-import-attacks-'));
  try {
    const paths: string[] = [];
    for (const [index, { fileName, create }] of files.entries()) {
      const path = join(folder, `${index}-${fileName}`);
      paths.push(path);
      await writeFile(path, create());
    }
    const flags = ['--input-type=module', '--max-old-space-size=512', '-e', program];
    const conversion = new URL('./conversion.ts', import.meta.url).href;
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, conversion, ...paths], {
      timeout: 200_000 * slowness,
      cwd: folder,
    });
    ({ outcomes, mebibytes } = JSON.parse(stdout));
    left = (await readdir(folder)).filter((name) => !paths.includes(join(folder, name)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test.each(files.map(({ name, verdict }, at) => [name, verdict, at] as const))(
  'the hostile file "%s" is %s',
  (_name, verdict, at) => {
    const { verdict: found, seconds } = outcomes[at] ?? { verdict: '', seconds: Number.NaN };
    if (verdict === undefined) expect(found).toMatch(/^[a-z_0-9]+$/);
    else expect(found).toBe(verdict);
    // an algorithm of quadratic time exceeds this
    expect(seconds).toBeLessThan(30 * slowness);
  },
);

test('all hostile files need less than 900 MiB and leave no file', () => {
  expect(mebibytes).toBeLessThan(900);
  expect(left).toEqual([]);
});
