/**
 * Computes content hashes with the Python sample of the docs, which shares no code with the service, and with the
 * service's code under Deno: for the published test vectors and 1,000 generated documents.
 */
import { execFile } from 'node:child_process';
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findTestProgram, slowness } from '#libs/testing';
import { denoBinary } from '../../scripts/deno-binary.ts';
import { hashDocument, type SampleDocument } from './documents.ts';
import { document } from './generated-documents.ts';
import { readVectors } from './vectors.ts';

const root = new URL('../..', import.meta.url).pathname;
const ownFolder = new URL('.', import.meta.url).pathname;
const samples = `${root}docs/controlled-documents`;

let documents: SampleDocument[];
let expected: string[];
beforeAll(async () => {
  const vectors = await readVectors();
  const generated = fc.sample(document, { seed: 26, numRuns: 1_000 });
  documents = [...vectors.map((vector) => vector.document), ...generated];
  const hashes = await Promise.all(generated.map(hashDocument));
  expected = [...vectors.map(({ content_hash }) => content_hash), ...hashes];
});

test('the Python sample computes the hashes of the service', async () => {
  const python = await findTestProgram('python3', { from: 'python3', purpose: 'The content hash in Python' });
  if (!python) return;
  expect(await run(python, ['-B', `${ownFolder}run.py`], { PYTHONPATH: samples })).toEqual(expected);
});

test('the service computes the same hashes under Deno', async () => {
  const flags = ['--no-prompt', '--allow-read', '--allow-env'];
  expect(await run(await denoBinary(), ['run', ...flags, `${ownFolder}run.ts`])).toEqual(expected);
});

/** Runs a program that reads a document per line and returns the lines of its output. */
function run(program: string, args: string[], environment: object = {}): Promise<string[]> {
  const { PATH, HOME } = process.env;
  const env = { ...{ PATH, HOME, PYTHONIOENCODING: 'utf-8' }, ...environment };
  return new Promise((resolve, reject) => {
    const options = { cwd: root, env, timeout: 180_000 * slowness, maxBuffer: 2 ** 26 };
    const child = execFile(program, args, options, (error, out, errors) => {
      if (error) reject(new Error(`${program} ended: ${error.message}\n${errors}`));
      else resolve(out.trimEnd().split('\n'));
    });
    child.stdin?.end(documents.map((sample) => `${JSON.stringify(sample)}\n`).join(''));
  });
}
