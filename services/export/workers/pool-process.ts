/** The process of the threads, seen from inside: it has threads, passes work to them and ends with whoever began it. */
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import process from 'node:process';
import type { Said, Told } from './child-process-pool.ts';
import { MemoryUsedUp, type WorkerPool } from './task-runner.ts';
import { here } from './thread-pool.ts';

const lowest = constants.priority.PRIORITY_LOW;
const inHand = new Map<number, AbortController>();
let crew: WorkerPool | undefined;

stepBack();
process.title = 'pds-export-files';
// whoever began it decides when it ends: a signal for all of a terminal must not end what is still waited for
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit());
process.on('message', (told: Told) => {
  if ('begin' in told) crew = here(told.begin, (onError) => say({ onError }));
  else if ('forget' in told) inHand.get(told.forget)?.abort();
  else if (crew) void work(crew, told);
});

async function work(crew: WorkerPool, { id, name, task }: Extract<Told, { id: number }>): Promise<void> {
  const ending = new AbortController();
  inHand.set(id, ending);
  try {
    say({ id, result: await crew.run(name, task, ending.signal) });
  } catch (error) {
    if (!ending.signal.aborted) say({ id, error, isMemory: error instanceof MemoryUsedUp });
  } finally {
    inHand.delete(id);
  }
}

function say(said: Said): void {
  process.send?.(said);
}

/**
 * Whoever waits for an answer goes first where cores are few. On Linux each thread has a priority of its own, which those that it
 * begins inherit; elsewhere the process has one.
 */
function stepBack(): void {
  const those = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const one of those) setPriority(one, lowest);
}
