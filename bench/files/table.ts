/** The table of files: what a Word file of so many nodes takes in each way, in a process of its own each time. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serialize } from 'node:v8';
import { compileTemplate } from '../../services/export/formats/template.ts';
import { root } from '../fixture.ts';
import { type Spread, spreadOf } from '../statistics.ts';
import { sampleOf } from './sample.ts';
import type { ways } from './ways.ts';

/** A way to make a file. */
export type Way = keyof typeof ways;

/** What files took in one way. */
export interface FileResult {
  way: Way;
  nodes: number;
  /** CPU time of the whole process, with starting it. */
  cpuMs: Spread;
  /** The most memory that the process had. */
  peakMb: Spread;
  kb: number;
  /** To the floor, of the same turn. */
  cpuRatio: Spread;
  memoryRatio: Spread;
  /** Why it made no file; then there are no figures. */
  failed?: string;
}

/** What ours is to stay below, times the floor. */
export const fileGoal = 2;

const order: readonly Way[] = ['floor', 'ours', 'patchDocument', 'docxtemplater'];
const usualSizes = [10, 100, 1_000, 10_000];
/** It takes a minute for ten thousand nodes: once is enough to see that. */
const slow = (way: Way, nodes: number) => way === 'patchDocument' && nodes > 1_000;

/** Makes the files; the ways take turns. */
export async function filesTable(options: {
  sizes?: readonly number[];
  turns: number;
  signal?: AbortSignal;
  done(result: FileResult): void;
}): Promise<FileResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-bench-'));
  try {
    const template = await readFile(join(root, 'tests', 'fixtures', 'corporate-template.docx'));
    const compilation = await compileTemplate(template);
    if (!compilation.ok) throw new Error(compilation.fault.message);
    const results: FileResult[] = [];
    for (const nodes of options.sizes ?? usualSizes) {
      const given = join(folder, `${nodes}`);
      await writeFile(
        given,
        serialize({ sample: sampleOf(nodes), template, compiled: compilation.template }),
      );
      for (const result of await turnsOf(nodes, given, options)) {
        results.push(result);
        options.done(result);
      }
    }
    return results;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Taken {
  cpuMs: number;
  peakMb: number;
  kb: number;
}

/** Libraries of others may give up on a large document; the table says so. */
const mayFail = (way: Way) => way === 'patchDocument' || way === 'docxtemplater';

async function turnsOf(
  nodes: number,
  given: string,
  { turns, signal }: { turns: number; signal?: AbortSignal },
): Promise<FileResult[]> {
  const taken = new Map<Way, Taken[]>(order.map((way) => [way, []]));
  const failed = new Map<Way, string>();
  for (let turn = 0; turn < turns; turn += 1)
    for (const way of order) {
      signal?.throwIfAborted();
      if (failed.has(way) || (turn > 0 && slow(way, nodes))) continue;
      try {
        taken.get(way)?.push(await once(way, given));
      } catch (error) {
        if (!mayFail(way)) throw error;
        failed.set(
          way,
          /^\w*Error: .*$/m.exec(String((error as { stderr?: unknown }).stderr))?.[0] ?? 'no file',
        );
      }
    }
  const floor = taken.get('floor') ?? [];
  return order.map((way) => {
    const own = taken.get(way) ?? [];
    const of = (value: (one: Taken, at: number) => number) => spreadOf(own.map(value));
    const why = failed.get(way);
    return {
      ...(why !== undefined && { failed: why }),
      way,
      nodes,
      cpuMs: of(({ cpuMs }) => cpuMs),
      peakMb: of(({ peakMb }) => peakMb),
      kb: own[0]?.kb ?? Number.NaN,
      cpuRatio: of(({ cpuMs }, at) => cpuMs / (floor[at]?.cpuMs ?? Number.NaN)),
      memoryRatio: of(({ peakMb }, at) => peakMb / (floor[at]?.peakMb ?? Number.NaN)),
    };
  });
}

async function once(way: Way, given: string): Promise<Taken> {
  const script = join(root, 'bench', 'files', 'one.ts');
  const args = ['--disable-warning=ExperimentalWarning', script, way, given];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 300_000 });
  return JSON.parse(stdout);
}
