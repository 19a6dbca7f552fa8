/** Identifies a process by its pid and its start time, because pids are reused. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A process. `started` is its start time as text from /proc or ps, which is compared but not parsed. */
export type ProcessMark = { pid: number; started: string };

/** Gets the mark of a running process; undefined if it has ended or is a zombie without running threads. */
export async function readProcessMark(pid: number): Promise<ProcessMark | undefined> {
  const started = process.platform === 'linux' ? await getStartTime(pid) : await ps(pid, 'lstart=');
  return started ? { pid, started } : undefined;
}

/** Whether the marked process is running. */
export async function isAlive(mark: ProcessMark): Promise<boolean> {
  return (await readProcessMark(mark.pid))?.started === mark.started;
}

async function getStartTime(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // after the name in parentheses, fields 1, 18 and 20 are the state, the number of threads and the start
  // time (in ticks since boot)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // the state is that of the main thread: other threads may still hold the files and locks of the process
  const isOver = fields[0] === 'X' || (fields[0] === 'Z' && Number(fields[17]) <= 1);
  return isOver ? undefined : fields[19];
}

async function ps(pid: number, column: string): Promise<string | undefined> {
  const result = await promisify(execFile)('ps', ['-o', column, '-p', String(pid)]).catch(() => undefined);
  return result?.stdout.trim() || undefined;
}
