/** What work leaves in the old space of the heap, where only a collection of the whole finds garbage. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major' | 'minor' }) => void;

/** Does the work so many times, with collections of the young space alone in between; gives how much the old space has grown, bytes. */
export async function retainedBytes(times: number, work: () => unknown): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: Collect = runInNewContext('gc');
  // code is compiled, and what it keeps for good is made
  for (let i = 0; i < times / 10; i += 1) await work();
  collect({ type: 'major' });
  const before = oldSpace();
  for (let i = 0; i < times; i += 1) {
    await work();
    if (i % 100 === 99) collect({ type: 'minor' });
  }
  return oldSpace() - before;
}

function oldSpace(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
}
