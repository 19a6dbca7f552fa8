/**
 * Runs the command blocks of the documentation like a reader: one after the other, in a fresh copy of the project.
 *
 * A block runs as printed, with these substitutions:
 * - Each documented port becomes a free one, in the block and in the settings of the program that it starts.
 * - `https://wiki.example.com/hooks` becomes the URL of a local receiver.
 * - A time of 2026 becomes one hour ago, because events are deleted after 90 days.
 * - Shell variables for the reader's own values (`$KEY`, `$DOC_ID` …) are set, see `variables.ts`.
 * Any other `…` outside of comments is an error: replace it in the page by a value or a variable, or skip the block.
 */
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findOrInstallLibreOffice, freePorts } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { findBinary } from '../../tools/mongod/binary.ts';
import { createUserPath } from '../typescript-client/programs.ts';
import { type Block, findCommandBlocks } from './blocks.ts';
import { createFreshCopy } from './fresh-copy.ts';
import { documentedPorts, findProgram, type Ports } from './programs.ts';
import { type Background, runInBackground, runToEnd } from './shell.ts';
import { createInstanceVariables, readFiveProcessVariables } from './variables.ts';

/** Runs pages one after the other. Programs keep running from one page to the next. */
export interface Reader {
  /** Runs the blocks of a page that are not skipped. Returns each block with its output. */
  follow(page: string): Promise<{ block: Block; printed: string }[]>;
  /** Stops the named programs, by default all. */
  stop(names?: readonly string[]): Promise<void>;
  /** Stops all programs and removes the copy. */
  close(): Promise<void>;
}

/** Creates a fresh copy of the project and a reader for it. */
export async function openReader(): Promise<Reader> {
  const folder = await createFreshCopy();
  const free = await freePorts(documentedPorts.length);
  const ports: Ports = new Map(documentedPorts.map((port, at) => [port, free[at] ?? 0]));
  const mongod = await findBinary(() => undefined);
  const libreOffice = await findOrInstallLibreOffice();
  const own = {
    ...createEnvironment([join(folder, 'global/bin'), dirname(mongod.path), dirname(libreOffice)]),
    // what a page installs or stores belongs to the reader
    NPM_CONFIG_PREFIX: join(folder, 'global'),
    PDS_CONFIG_DIR: join(folder, 'config'),
  };
  const running = new Map<string, Background>();
  const variables: Record<string, string> = {};
  const receiver = { close: () => {} };

  const stop = async (names: readonly string[] = [...running.keys()]) => {
    // in reverse order, so services stop before their servers
    for (const name of [...names].reverse()) {
      const program = running.get(name);
      running.delete(name);
      await program?.stop();
    }
  };

  const run = async (block: Block): Promise<string> => {
    const ready = { ...block, text: substitute(block, ports, variables) };
    const program = findProgram(block.text, ports);
    const gateway = running.has('gateway') ? { PORT: String(ports.get(8080)) } : {};
    const place = { folder, environment: { ...own, ...variables, ...gateway, ...program?.settings } };
    if (!program) return runToEnd(ready, place);
    await stop([program.name]);
    const started = runInBackground(ready, place, program);
    running.set(program.name, started);
    return '';
  };

  /** Waits until all programs are ready. Services wait for each other, so they are awaited together. */
  const settle = async () => {
    for (const { ready } of running.values()) await ready;
    const instance = running.get('npm start');
    if (!instance || variables.KEY) return;
    const found = await createInstanceVariables(instance.printed());
    receiver.close = found.close;
    Object.assign(variables, found.variables);
  };

  return {
    async follow(page) {
      const blocks = findCommandBlocks(page, await readFile(join(folder, page), 'utf8'));
      const followed = [];
      for (const block of blocks.filter(({ skip }) => skip === undefined)) {
        const isService = contracts.some(({ name }) => findProgram(block.text, ports)?.name === name);
        if (!isService) await settle();
        Object.assign(variables, await readFiveProcessVariables(folder, Number(ports.get(27017))));
        followed.push({ block, printed: await run(block) });
      }
      await settle();
      return followed;
    },
    stop,
    async close() {
      await receiver.close();
      await stop();
      // RabbitMQ does not stop its port mapper
      const environment = { ...own, ERL_EPMD_PORT: String(ports.get(4369)) };
      await promisify(execFile)('epmd', ['-kill'], { env: environment }).catch(() => {});
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The environment of a reader: without settings of this process, and without other `node_modules` in the PATH. */
function createEnvironment(folders: readonly string[]): Record<string, string | undefined> {
  const { HOME, LANG, PDS_CACHE_DIR, XDG_CACHE_HOME, NODE_COMPILE_CACHE, DENO_DIR } = process.env;
  return {
    PATH: createUserPath(folders),
    ...{ HOME, LANG, PDS_CACHE_DIR, XDG_CACHE_HOME, NODE_COMPILE_CACHE, DENO_DIR },
  };
}

/** The text of a block after all substitutions. Throws if a placeholder is left. */
export function substitute(
  { page, line, text }: Block,
  ports: Ports,
  variables: Readonly<Record<string, string>>,
): string {
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const filled = text
    .replaceAll(/(?<=[:= ])\d{4,5}\b/g, (port) => String(ports.get(Number(port)) ?? port))
    .replaceAll('https://wiki.example.com/hooks', variables.RECEIVER ?? '')
    .replaceAll(/"2026-\d\d-\d\dT[\d:]+Z"/g, `"${hourAgo}"`);
  const left = filled.split('\n').find((one) => one.replace(/(^|\s)#.*$/, '').includes('…'));
  if (left !== undefined) throw new Error(`${page}:${line}: no value for the placeholder … in: ${left}`);
  return filled;
}
