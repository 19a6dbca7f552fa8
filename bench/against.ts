/** Compares this build with another commit of the project: `npm run bench -- --against <ref>`. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchFixture, createFixture, root, type Side } from './fixture.ts';
import { type Result, toResult, warmUpPairs } from './measure.ts';
import type { PreparedRow, Row, Sample } from './row.ts';

/** Options of a comparison. */
export interface AgainstOptions {
  mongoUri: string;
  /** The commit, branch or tag to compare with. */
  ref: string;
  rows: readonly Row[];
  /** Pairs of batches per row, after the warm-up. */
  batches: number;
  /** Fraction of the default batch size. */
  share: number;
  signal?: AbortSignal;
  onResult(result: Result): void;
  /** Is called for each row that cannot run here. */
  onSkipped?(name: string, reason: string): void;
}

/**
 * Measures the rows with both builds, each with its own database. Their batches alternate, and so does which one
 * is first. In the results, the other build takes the place of the baseline.
 */
export async function measureAgainst({ ref, mongoUri, ...options }: AgainstOptions): Promise<void> {
  const { folder, remove } = checkOut(ref);
  const fixtures: BenchFixture[] = [];
  try {
    // both baselines are of this build, so their responses may lack fields of the other one
    fixtures.push(await createFixture({ mongoUri, comparesResponses: false }));
    fixtures.push(await createFixture({ mongoUri, comparesResponses: false, serviceRoot: folder }));
    for (const row of options.rows) await measureRow(row, fixtures, options);
  } finally {
    for (const fixture of fixtures) await fixture.close();
    remove();
  }
}

async function measureRow(
  row: Row,
  fixtures: readonly BenchFixture[],
  { batches, share, signal, onResult, onSkipped }: Omit<AgainstOptions, 'mongoUri' | 'ref'>,
): Promise<void> {
  const prepared: PreparedRow[] = [];
  try {
    for (const fixture of fixtures) {
      const ready = await row.prepare(fixture, share);
      if (typeof ready === 'string') return onSkipped?.(row.name, ready);
      prepared.push(ready);
      await fixture.db.admin().command({ fsync: 1 });
    }
    // one of each fixture
    const [ours, theirs] = prepared as [PreparedRow, PreparedRow];
    const pairs: Record<Side, Sample>[] = [];
    for (let pair = 0; pair < warmUpPairs + batches; pair += 1) {
      signal?.throwIfAborted();
      const isReversed = pair % 2 === 1;
      const measure = async () => ({ service: await ours.batch('service') });
      const measureOther = async () => ({ baseline: await theirs.batch('service') });
      const samples = isReversed
        ? { ...(await measureOther()), ...(await measure()) }
        : { ...(await measure()), ...(await measureOther()) };
      if (pair >= warmUpPairs) pairs.push(samples);
    }
    const { goal: _goal, p99Goal: _p99Goal, withoutRatio: _withoutRatio, ...compared } = row;
    onResult(toResult(compared, pairs));
  } finally {
    for (const { end } of prepared) await end?.();
  }
}

/** Checks a commit out into a temporary folder, which shares the packages of this one. */
function checkOut(ref: string): { folder: string; remove(): void } {
  const parent = mkdtempSync(join(tmpdir(), 'bench-against-'));
  const folder = join(parent, 'build');
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const remove = () => {
    rmSync(parent, { recursive: true, force: true });
    git('worktree', 'prune');
  };
  try {
    git('worktree', 'add', '--detach', folder, ref);
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, remove };
}
