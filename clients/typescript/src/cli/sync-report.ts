/** The report of `pull` and `push`: what happened to each file. */
import type { Context } from './context.ts';
import { exitCodes, formatError } from './exit-codes.ts';

/** What can happen to a file. */
export type Outcome =
  | 'created'
  | 'updated'
  | 'revised'
  | 'unchanged'
  /** An unchanged draft that an earlier push could not publish. */
  | 'published'
  | 'pulled'
  /** Only the file has changed; pull leaves it. */
  | 'edited'
  /** A Markdown file that the user has written or changed; pull leaves it. */
  | 'kept'
  /** Only the service has changed; push leaves it. */
  | 'outdated'
  /** Both have changed. */
  | 'conflict'
  | 'failed';

/** What happened to a file, and what to do. */
export interface FileResult {
  file: string;
  id: string | undefined;
  outcome: Outcome;
  message?: string;
}

/** Collects results and prints them. */
export function createReport(context: Context) {
  const results: FileResult[] = [];
  return {
    /** Records a result, and prints it unless nothing happened. */
    add(result: FileResult): void {
      results.push(result);
      if (context.isJson || result.outcome === 'unchanged') return;
      const { file, outcome, message } = result;
      context.print(`${outcome.padEnd(9)}  ${file}${message ? `\n${indent(message)}` : ''}`);
    },
    addError(file: string, id: string | undefined, error: unknown): void {
      this.add({ file, id, outcome: 'failed', message: formatError(error) });
    },
    /** Prints the summary of what happened before an error ended the run, if anything did. */
    abort(): void {
      if (results.length > 0) this.finish();
    },
    /** Prints the summary. Returns the exit code. */
    finish(): number {
      const counts = new Map<Outcome, number>();
      for (const { outcome } of results) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      context.show(
        results,
        () => [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ') || 'No documents.',
      );
      if (counts.has('failed')) return exitCodes.failed;
      return counts.has('conflict') ? exitCodes.conflict : exitCodes.ok;
    },
  };
}

/** The report of one run. */
export type Report = ReturnType<typeof createReport>;

function indent(text: string): string {
  return text.replaceAll(/^/gm, '           ');
}
