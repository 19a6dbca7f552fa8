/** Tells whether a process still lives and is the one that was meant: pids are reused, so a start time goes with each. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** One particular process: its pid and when it started, in the words of /proc or ps (compared, never parsed). */
export type ProcessMark = { pid: number; started: string };

/** The mark of a living process; undefined when there is none, or only its zombie. It lives while one of its threads does. */
export async function readProcessMark(pid: number): Promise<ProcessMark | undefined> {
  const started = process.platform === 'linux' ? await getStartTime(pid) : await ps(pid, 'lstart=');
  return started ? { pid, started } : undefined;
}

/** True while exactly the marked process lives. */
export async function isAlive(mark: ProcessMark): Promise<boolean> {
  return (await readProcessMark(mark.pid))?.started === mark.started;
}

/** The command line of a living process, its words joined by spaces; undefined when there is none, or when it is just ending. */
export async function getCommandLine(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return ps(pid, 'command=');
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.replaceAll('\0', ' ').trim() || undefined;
}

/** Resolves true as soon as the marked process has ended, false when it still lives after `limitMs`. */
export async function waitUntilEnded(mark: ProcessMark, limitMs: number): Promise<boolean> {
  const until = Date.now() + limitMs;
  while (await isAlive(mark)) {
    if (Date.now() > until) return false;
    await sleep(50);
  }
  return true;
}

/** Ends the marked process: SIGTERM, after `limitMs` SIGKILL; does nothing when it is gone. */
export async function terminate(mark: ProcessMark, limitMs: number): Promise<void> {
  if (!(await isAlive(mark))) return;
  signal(mark.pid, 'SIGTERM');
  if (await waitUntilEnded(mark, limitMs)) return;
  signal(mark.pid, 'SIGKILL');
  await waitUntilEnded(mark, 2000);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it ended by itself in between
  }
}

async function getStartTime(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // after the name in brackets: the state is the first field, the threads the eighteenth, the start (in ticks since boot) the twentieth
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // the state is the first thread's alone: while others wait for the disk, they keep files and locks of the process
  const isOver = fields[0] === 'X' || (fields[0] === 'Z' && Number(fields[17]) <= 1);
  return isOver ? undefined : fields[19];
}

async function ps(pid: number, column: string): Promise<string | undefined> {
  const result = await promisify(execFile)('ps', ['-o', column, '-p', String(pid)]).catch(() => undefined);
  return result?.stdout.trim() || undefined;
}
