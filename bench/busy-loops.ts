/** Child processes that keep the cores busy, for measurements beside other programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs `work` beside `count` busy loops at normal priority. Kills the loops afterwards, also if it fails. */
export async function withBusyLoops<R>(count: number, work: () => Promise<R>): Promise<R> {
  const loops: ChildProcess[] = [];
  try {
    while (loops.length < count) loops.push(await startBusyLoop());
    return await work();
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
}

/** Starts a loop in this session, because Linux may divide CPU time among sessions. */
async function startBusyLoop(): Promise<ChildProcess> {
  // the loop also ends when this process has ended
  const loop = spawn('sh', ['-c', 'while kill -0 "$PPID"; do :; done'], { stdio: 'ignore' });
  await once(loop, 'spawn');
  return loop;
}
