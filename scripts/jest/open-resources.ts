/** Finds what a test file leaves open: connections, servers, timers, child processes. */
import { createHook } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';

/** How long connections and timers may take to close after the last test of a file. */
const closingMs = 10_000;

/** How Node calls them when they open. */
const types = new Set(['Timeout', 'TCPWRAP', 'TCPSERVERWRAP', 'PIPEWRAP', 'PROCESSWRAP']);

/** A resource that may keep the process running, and where it was opened. */
interface Resource {
  type: string;
  handle: { hasRef?(): boolean };
  /** Where it was opened. Formatting a stack is slow, so only those of what stays open are formatted. */
  openedAt: Error;
}

const resources = new Map<number, Resource>();

/** How many lines of a stack are kept, including those of Node. */
const stackLines = 25;

// tracks them always, because one that is left open once in a hundred runs must be found in that run
createHook({
  init(id, type, _trigger, handle) {
    if (!types.has(type)) return;
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = stackLines;
    resources.set(id, { type, handle, openedAt: new Error() });
    Error.stackTraceLimit = stackTraceLimit;
  },
  destroy: (id) => void resources.delete(id),
  trackPromises: false,
}).enable();

/** Starts a file. The function that it returns waits until nothing more is open, and returns an error for the rest. */
export function watchResources(path: string, slowness: number): () => Promise<string[]> {
  resources.clear();
  const before = countActive();
  return async () => {
    const limit = performance.now() + closingMs * slowness;
    for (;;) {
      const open = [...countActive()].filter(([type, count]) => count > (before.get(type) ?? 0));
      if (open.length === 0) return [];
      if (performance.now() > limit) {
        const list = open.map(
          ([type, count]) => `${count} ${type} (${before.get(type) ?? 0} before the file)`,
        );
        return [
          `${path} left connections, servers, timers or processes open: ${list.join(', ')}\n${describe()}`,
        ];
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
}

/** Counts what keeps the process running, by type. */
function countActive(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** Describes where everything was opened that is still open. */
function describe(): string {
  const open = [...resources.values()].filter(({ handle }) => handle.hasRef?.() !== false);
  return open
    .map(({ type, openedAt }) => ({ type, lines: toLines(openedAt.stack ?? '') }))
    .filter(({ lines }) => !lines.some((line) => line.includes(import.meta.filename))) // the timer of the wait
    .map(({ type, lines }) => [type, ...lines].join('\n'))
    .join('\n');
}

/** Returns the lines of a stack below the hook and Node's own. */
function toLines(stack: string): string[] {
  const lines = stack.split('\n').slice(2);
  return lines.filter((line) => !/node:internal|async_hooks/.test(line));
}
