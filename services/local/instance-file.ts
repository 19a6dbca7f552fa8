/** The file in a data folder that says where its running instance answers; `npm run demo` finds the instance by it. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive, readProcessMark } from '#libs/store';

const instance = z.object({
  pid: z.number(),
  /** When the process started, as the system says it: pids are reused. */
  started: z.string(),
  port: z.number(),
  management_port: z.number(),
});

/** A running instance: its process and its ports on 127.0.0.1. */
export type Instance = z.infer<typeof instance>;

/** What a data folder says: an instance that runs, one whose process has ended, or nothing. */
export type InstanceState = { state: 'running' | 'ended'; instance: Instance } | { state: 'none' };

/** Writes the file for this process; gives the function that removes it. */
export async function writeInstanceFile(
  dataDir: string,
  ports: { port: number; managementPort: number },
): Promise<() => Promise<void>> {
  const mark = await readProcessMark(process.pid);
  if (!mark) throw new Error('The system does not say when this process started');
  const content: Instance = { ...mark, port: ports.port, management_port: ports.managementPort };
  await writeFile(toFilePath(dataDir), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  return () => rm(toFilePath(dataDir), { force: true });
}

/** Reads the file; a file that cannot be read as one counts as none. A process with the same pid but another start has ended. */
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
