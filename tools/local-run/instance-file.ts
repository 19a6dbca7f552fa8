/** The instance file in a data folder: process and ports of the running instance, read by `npm run demo`. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive, readProcessMark } from '../mongod/process-mark.ts';

const instance = z.object({
  pid: z.number(),
  /** Start time as the operating system reports it; it identifies a process if its pid is reused. */
  started: z.string(),
  port: z.number(),
  management_port: z.number(),
});

/** A running instance: its process and its ports on 127.0.0.1. */
export type Instance = z.infer<typeof instance>;

/** The state of a data folder's instance: running, ended, or no instance file. */
export type InstanceState = { state: 'running' | 'ended'; instance: Instance } | { state: 'none' };

/** Writes the instance file of this process. Returns the function that removes it. */
export async function writeInstanceFile(
  dataDir: string,
  ports: { port: number; managementPort: number },
): Promise<() => Promise<void>> {
  const mark = await readProcessMark(process.pid);
  if (!mark) throw new Error('Could not read the start time of this process');
  const content: Instance = { ...mark, port: ports.port, management_port: ports.managementPort };
  await writeFile(toFilePath(dataDir), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  return () => rm(toFilePath(dataDir), { force: true });
}

/**
 * Reads the instance file. An unreadable file counts as none. If the process with this pid started at
 * another time, the instance has ended.
 */
export async function readInstanceFile(dataDir: string): Promise<InstanceState> {
  const text = await readFile(toFilePath(dataDir), 'utf8').catch(() => undefined);
  const parsed = text === undefined ? undefined : instance.safeParse(parseJson(text)).data;
  if (!parsed) return { state: 'none' };
  return { state: (await isAlive(parsed)) ? 'running' : 'ended', instance: parsed };
}

function toFilePath(dataDir: string): string {
  return join(dataDir, 'instance.json');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
