/** Reads CPU time and resident memory of a process and its descendants from the operating system. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Returns the CPU time of a process and its descendants in ms, with a resolution of 10 ms on Linux, 1 s
 * elsewhere.
 */
export function getCpuMs(pid: number): number {
  return sum(
    processTree(pid).map(process.platform === 'linux' ? getTicksMs : (id) => parsePsTime(ps('time', id))),
  );
}

/**
 * Returns the CPU time in ms with full resolution, for short slices of work. It covers threads that are alive
 * (proc(5), `schedstat`). Without `schedstat` it falls back to `getCpuMs`.
 */
export function getPreciseCpuMs(pid: number): number {
  if (!existsSync(`/proc/${pid}/schedstat`)) return getCpuMs(pid);
  const nanoseconds = processTree(pid).flatMap((id) =>
    getTasks(id).map((task) => Number(read(`/proc/${id}/task/${task}/schedstat`).split(' ')[0])),
  );
  return sum(nanoseconds) / 1e6;
}

/** Returns the resident memory of a process and its descendants in MB. */
export function getRssMb(pid: number): number {
  return sum(processTree(pid).map(getOwnRssMb));
}

/** Returns the resident memory of the descendants of a process in MB. */
export function getDescendantsRssMb(pid: number): number {
  return sum(processTree(pid).slice(1).map(getOwnRssMb));
}

/** Returns the resident memory of a process without its descendants in MB. */
export function getOwnRssMb(pid: number): number {
  const kb =
    process.platform === 'linux'
      ? Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
      : Number(ps('rss', pid));
  return kb / 1024;
}

/** Returns the ids of a process and all its descendants. */
function processTree(pid: number): number[] {
  return [pid, ...getChildren(pid).flatMap(processTree)];
}

function getChildren(pid: number): number[] {
  if (process.platform === 'linux')
    return getTasks(pid).flatMap((task) => parseNumbers(read(`/proc/${pid}/task/${task}/children`)));
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=']).toString().split('\n').map(parseNumbers);
  return lines.flatMap(([child, parent]) => (child !== undefined && parent === pid ? [child] : []));
}

function getTasks(pid: number): string[] {
  return ignoreEnded(() => readdirSync(`/proc/${pid}/task`)) ?? [];
}

/**
 * Fields 14 to 17 of proc(5): CPU time of the process and of its ended children, in ticks of 1/100 s. The
 * fields are counted after the process name, because the name may contain spaces and parentheses.
 */
function getTicksMs(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return sum(fields.slice(11, 15).map(Number)) * 10;
}

function read(path: string): string {
  return ignoreEnded(() => readFileSync(path, 'utf8')) ?? '';
}

/** Returns undefined if reading fails because the process has ended. */
function ignoreEnded<R>(look: () => R): R | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function ps(field: string, pid: number): string {
  return execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)]).toString();
}

/** Parses the time format of `ps`, `[days-][hours:]minutes:seconds`, to ms. */
function parsePsTime(time: string): number {
  const [clock = '', days = '0'] = time.trim().split('-').reverse();
  const seconds = clock.split(':').reduce((total, part) => total * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}

function parseNumbers(text: string): number[] {
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
