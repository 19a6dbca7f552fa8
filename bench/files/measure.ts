/** Measures Word files of several sizes with each renderer. Each file is rendered in a separate process. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serialize } from 'node:v8';
import { compileTemplate } from '../../services/export/formats/template.ts';
import { root } from '../fixture.ts';
import { type Spread, toSpread } from '../statistics.ts';
import type { renderers } from './renderers.ts';
import { createSample } from './sample.ts';

/** Name of a renderer. */
export type RendererName = keyof typeof renderers;

/** The cost of files of one size with one renderer. */
export interface FileResult {
  renderer: RendererName;
  nodes: number;
  /** CPU time of the whole process, including its start. */
  cpuMs: Spread;
  /** Peak memory of the process. */
  peakMb: Spread;
  kb: number;
  /** Relative to the baseline in the same round. */
  cpuRatio: Spread;
  memoryRatio: Spread;
  /** The error, if the renderer failed. Without any successful round, the numbers are NaN. */
  failed?: string;
}

/** Goal for the service: at most this multiple of the baseline. */
export const fileGoal = 2;

const rendererNames: readonly RendererName[] = ['baseline', 'service', 'patchDocument', 'docxtemplater'];
const defaultSizes = [10, 100, 1_000, 10_000];
/** patchDocument takes about a minute for 10,000 nodes, so it is measured only once. */
const isSlow = (renderer: RendererName, nodes: number) => renderer === 'patchDocument' && nodes > 1_000;

/** Renders the files. The renderers alternate. */
export async function measureFiles(options: {
  sizes?: readonly number[];
  rounds: number;
  signal?: AbortSignal;
  done(result: FileResult): void;
}): Promise<FileResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-bench-'));
  try {
    const template = await readFile(join(root, 'tests', 'fixtures', 'corporate-template.docx'));
    const compilation = await compileTemplate(template);
    if (!compilation.ok) throw new Error(compilation.fault.message);
    const results: FileResult[] = [];
    for (const nodes of options.sizes ?? defaultSizes) {
      const inputFile = join(folder, `${nodes}`);
      await writeFile(
        inputFile,
        serialize({ sample: createSample(nodes), template, compiled: compilation.template }),
      );
      for (const result of await measureSize(nodes, inputFile, options)) {
        results.push(result);
        options.done(result);
      }
    }
    return results;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface FileCost {
  cpuMs: number;
  peakMb: number;
  kb: number;
}

/** Third-party libraries may fail on large documents. The table then shows the error. */
const isThirdParty = (renderer: RendererName) => renderer === 'patchDocument' || renderer === 'docxtemplater';

async function measureSize(
  nodes: number,
  inputFile: string,
  { rounds, signal }: { rounds: number; signal?: AbortSignal },
): Promise<FileResult[]> {
  const costs = new Map<RendererName, FileCost[]>(rendererNames.map((renderer) => [renderer, []]));
  const failed = new Map<RendererName, string>();
  for (let round = 0; round < rounds; round += 1)
    for (const renderer of rendererNames) {
      signal?.throwIfAborted();
      if (failed.has(renderer) || (round > 0 && isSlow(renderer, nodes))) continue;
      try {
        costs.get(renderer)?.push(await measureOne(renderer, inputFile));
      } catch (error) {
        if (!isThirdParty(renderer)) throw error;
        failed.set(
          renderer,
          /^\w*Error: .*$/m.exec(String((error as { stderr?: unknown }).stderr))?.[0] ?? 'no error text',
        );
      }
    }
  const baseline = costs.get('baseline') ?? [];
  return rendererNames.map((renderer) => {
    const rendererCosts = costs.get(renderer) ?? [];
    const spreadOver = (getValue: (cost: FileCost, at: number) => number) =>
      toSpread(rendererCosts.map(getValue));
    const error = failed.get(renderer);
    return {
      ...(error !== undefined && { failed: error }),
      renderer,
      nodes,
      cpuMs: spreadOver(({ cpuMs }) => cpuMs),
      peakMb: spreadOver(({ peakMb }) => peakMb),
      kb: rendererCosts[0]?.kb ?? Number.NaN,
      cpuRatio: spreadOver(({ cpuMs }, at) => cpuMs / (baseline[at]?.cpuMs ?? Number.NaN)),
      memoryRatio: spreadOver(({ peakMb }, at) => peakMb / (baseline[at]?.peakMb ?? Number.NaN)),
    };
  });
}

async function measureOne(renderer: RendererName, inputFile: string): Promise<FileCost> {
  const script = join(root, 'bench', 'files', 'measure-one.ts');
  const args = ['--disable-warning=ExperimentalWarning', script, renderer, inputFile];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 300_000 });
  return JSON.parse(stdout);
}
