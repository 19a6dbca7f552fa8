/**
 * Child process that renders one file and prints its CPU time (all threads, with startup), peak memory and
 * size.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { deserialize } from 'node:v8';
import { type RenderInput, renderers } from './renderers.ts';

const [way, inputFile, outputFile] = process.argv.slice(2);
if (!way || !inputFile || !(way in renderers))
  throw new Error('Usage: measure-one.ts <renderer> <input file> [output file]');
// the parent process has just written the input file
const bytes = await renderers[way as keyof typeof renderers](
  deserialize(await readFile(inputFile)) as RenderInput,
);
if (outputFile) await writeFile(outputFile, bytes);
const { userCPUTime, systemCPUTime } = process.resourceUsage();
const cost = {
  cpuMs: (userCPUTime + systemCPUTime) / 1000,
  peakMb: (await peakKb()) / 1024,
  kb: bytes.byteLength / 1024,
};
process.stdout.write(JSON.stringify(cost));

/** Returns the peak memory of this process. On Linux, `maxRSS` may be that of the parent process. */
async function peakKb(): Promise<number> {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS;
  const status = await readFile('/proc/self/status', 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]);
}
