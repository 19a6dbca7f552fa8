/** Limits the memory of a process and its children, as a container does, where this machine allows it (root). */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '#libs/testing';

/** A limit for the processes that the wrapper starts. */
export interface MemoryLimit {
  /** The command that runs the command after it within the limit. */
  wrapper: string[];
  /** Removes the limit, once all processes have ended. */
  remove(): Promise<unknown>;
}

/** Creates a control group. Returns undefined if this machine does not allow it. */
export function limitMemory(megabytes: number): MemoryLimit | undefined {
  const isVersion1 = existsSync('/sys/fs/cgroup/memory');
  const parent = isVersion1 ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup';
  const group = join(parent, `pds-test-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(group);
  } catch {
    return undefined;
  }
  try {
    const file = isVersion1 ? 'memory.limit_in_bytes' : 'memory.max';
    writeFileSync(join(group, file), String(megabytes * 2 ** 20));
  } catch {
    rmdirSync(group);
    return undefined;
  }
  const script = 'echo $$ > "$0" && exec "$@"';
  return {
    wrapper: ['sh', '-c', script, join(group, 'cgroup.procs')],
    remove: () => until('the processes within the limit to end', async () => removeGroup(group)),
  };
}

function removeGroup(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
