/** Finds the instance that the demo uses. */
import { resolve } from 'node:path';
import { readInstanceFile } from '../../tools/local-run/instance-file.ts';

/** The instance to use. */
export interface Target {
  /** Without a path, e.g. `http://127.0.0.1:8080`. */
  origin: string;
  /** Readable source of the address. */
  source: string;
  /** Notes about addresses that were not used. */
  notes: string[];
}

/** An invalid address. The message contains the reason. */
export class TargetError extends Error {}

/**
 * Uses `--base`, else the running instance of DATA_DIR (if set), else PORT (if set), else the running
 * instance of the default data folder, else port 8080. Settings take precedence over defaults.
 */
export async function findTarget(
  base: string | undefined,
  environment: Record<string, string | undefined>,
): Promise<Target> {
  if (base !== undefined) return { origin: toOrigin(base), source: '--base', notes: [] };
  const { DATA_DIR: dataDir, PORT: port } = environment;
  const notes: string[] = [];
  if (dataDir) {
    const running = await findRunning(dataDir, notes, true);
    if (running) return { ...running, notes };
  }
  if (port) return { origin: localOrigin(port), source: 'PORT', notes };
  if (!dataDir) {
    const running = await findRunning('.data', notes, false);
    if (running) return { ...running, notes };
  }
  return { origin: localOrigin('8080'), source: 'the default port', notes };
}

async function findRunning(dataDir: string, notes: string[], isExplicit: boolean) {
  const folder = resolve(dataDir);
  const found = await readInstanceFile(folder);
  if (found.state === 'running')
    return { origin: localOrigin(String(found.instance.port)), source: `the instance file in ${folder}` };
  if (found.state === 'ended')
    notes.push(`The instance of ${folder} (process ${found.instance.pid}) is no longer running.`);
  else if (isExplicit) notes.push(`No instance is running with the data in ${folder}.`);
  return undefined;
}

function localOrigin(port: string): string {
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  if (!isPort)
    throw new TargetError(`PORT is ${port}: it must be a port from 1 to 65535. Or use --base URL.`);
  return `http://127.0.0.1:${port}`;
}

function toOrigin(base: string): string {
  const url = URL.parse(base);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TargetError(`--base is ${base}: it must be an address such as http://127.0.0.1:8080.`);
  return base.replace(/\/(api\/v1)?\/?$/, '');
}
