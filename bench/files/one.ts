/** Makes one file in one way, in a process of its own, and prints what it took: CPU time with all threads and starting, the most memory, the size. */

import { readFile, writeFile } from 'node:fs/promises';
import { deserialize } from 'node:v8';
import { type Given, ways } from './ways.ts';

const [way, given, to] = process.argv.slice(2);
if (!way || !given || !(way in ways)) throw new Error('Usage: one.ts <way> <what is given> [where to]');
// the table has just made it
const bytes = await ways[way as keyof typeof ways](deserialize(await readFile(given)) as Given);
if (to) await writeFile(to, bytes);
const { userCPUTime, systemCPUTime } = process.resourceUsage();
const taken = {
  cpuMs: (userCPUTime + systemCPUTime) / 1000,
  peakMb: (await mostKb()) / 1024,
  kb: bytes.byteLength / 1024,
};
process.stdout.write(JSON.stringify(taken));

/** The most memory that this process had; on Linux `maxRSS` may be that of the one that started it. */
async function mostKb(): Promise<number> {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS;
  const status = await readFile('/proc/self/status', 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]);
}
