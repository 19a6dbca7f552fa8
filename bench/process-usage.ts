/** What the system says of a process and those that it began: CPU time and resident memory, read from outside. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The CPU time that a process, those that it began and all their threads have used, ms: in steps of 10 ms on Linux, of a second elsewhere. */
export function cpuMsOf(pid: number): number {
  return sum(family(pid).map(process.platform === 'linux' ? ticksMsOf : (one) => msOf(ps('time', one))));
}

/**
 * The same without steps, for short slices of work: what the threads that are alive have used (proc(5), `schedstat`).
 * Where a kernel does not tell, `cpuMsOf`.
 */
export function fineCpuMsOf(pid: number): number {
  if (!existsSync(`/proc/${pid}/schedstat`)) return cpuMsOf(pid);
  const nanoseconds = family(pid).flatMap((one) =>
    tasksOf(one).map((task) => Number(read(`/proc/${one}/task/${task}/schedstat`).split(' ')[0])),
  );
  return sum(nanoseconds) / 1e6;
}

/** The resident memory of a process and those that it began, MB. */
export function rssMbOf(pid: number): number {
  const kbOf = (one: number) =>
    process.platform === 'linux'
      ? Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${one}/status`))?.[1] ?? 0)
      : Number(ps('rss', one));
  return sum(family(pid).map(kbOf)) / 1024;
}

/** A process, those that it began, those that they began, and so on, as far as the system tells. */
function family(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(family)];
}

function childrenOf(pid: number): number[] {
  if (process.platform === 'linux')
    return tasksOf(pid).flatMap((task) => numbersIn(read(`/proc/${pid}/task/${task}/children`)));
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=']).toString().split('\n').map(numbersIn);
  return lines.flatMap(([child, parent]) => (child !== undefined && parent === pid ? [child] : []));
}

function tasksOf(pid: number): string[] {
  return unlessEnded(() => readdirSync(`/proc/${pid}/task`)) ?? [];
}

/** proc(5): fields 14 to 17, its own and of those that have ended, in ticks of 1/100 s, counted behind the name, which may hold anything. */
function ticksMsOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return sum(fields.slice(11, 15).map(Number)) * 10;
}

function read(path: string): string {
  return unlessEnded(() => readFileSync(path, 'utf8')) ?? '';
}

/** Nothing about what has just ended. */
function unlessEnded<R>(look: () => R): R | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function ps(field: string, pid: number): string {
  return execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)]).toString();
}

/** `[days-][hours:]minutes:seconds` as `ps` writes it. */
function msOf(time: string): number {
  const [clock = '', days = '0'] = time.trim().split('-').reverse();
  const seconds = clock.split(':').reduce((total, part) => total * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}

function numbersIn(text: string): number[] {
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
