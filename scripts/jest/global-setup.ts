/**
 * Runs once before all tests: creates the temporary folder of the run, generates what the client needs, and starts the
 * provider of servers.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Config } from '@jest/types';
import { generateClient } from '../typescript-client/generate.ts';
import { createCoverageFolder, reportCoverage } from './coverage.ts';
import { warmDeno } from './warm-deno.ts';

let servers: ChildProcess | undefined;

// biome-ignore lint/style/noDefaultExport: Jest takes its global setup from the default export
export default async function setUp({ maxWorkers }: Config.GlobalConfig): Promise<void> {
  const slowness = Number(process.env.TEST_SLOWNESS ?? 1);
  const factor = slowness === 1 ? 'as set' : `${slowness.toFixed(1)} times as long, as the machine is slow`;
  process.stderr.write(`${maxWorkers} workers; waits may take ${factor}.\n`);
  if (process.env.TEST_COVERAGE) process.env.TEST_COVERAGE_FOLDER = await createCoverageFolder();
  if (process.env.TEST_LANE === 'e2e' || process.env.TEST_LANE === 'chaos') await warmDeno();
  await generateClient();
  process.env.TMPDIR = await mkdtemp(join(tmpdir(), 'pds-run-'));
  servers = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'servers.ts')],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  if (!servers.stdout) throw new Error('The provider of servers has no stdout');
  const [port] = await once(createInterface(servers.stdout), 'line');
  process.env.TEST_SERVERS = `http://127.0.0.1:${port}`;
  // a whole lane needs both; start them while the first tests load
  if (process.env.TEST_LANE)
    for (const name of ['mongodb', 'rabbitmq']) fetch(`${process.env.TEST_SERVERS}/${name}`).catch(() => {});
}

/** Prints the coverage if it was measured, and stops the servers. Rejects if the tests left something behind. */
export async function tearDown(): Promise<void> {
  if (process.env.TEST_COVERAGE_FOLDER) await reportCoverage(process.env.TEST_COVERAGE_FOLDER);
  if (!servers) return;
  const exited = once(servers, 'exit');
  servers.stdin?.end();
  const [code] = await exited;
  if (code !== 0) throw new Error('The tests left files or processes behind.');
}
