/** Runs programs of the project for tests, each as a separate process with only the given environment. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { until } from '#libs/testing';

/** A program that runs as a separate process. */
export interface Program {
  process: ChildProcess;
  /** Everything printed so far. */
  printed(): string;
  /** Resolves with the exit code (null after a signal). */
  exited: Promise<number | null>;
}

/** A program that can be restarted at the same address. */
export interface SupervisedProgram extends Program {
  /**
   * Kills the process with SIGKILL and starts a new one, as an orchestrator does. Resolves when the new one is ready.
   * The other fields then describe the new process; `printed` continues after the output of the old one.
   */
  killAndRestart(): Promise<void>;
  /** Stops the process with SIGTERM and starts a new one, as in a rolling restart. Returns the old exit code. */
  restart(): Promise<number | null>;
}

/**
 * Runs a script of the project with only the given environment. `wrapper` is a command that runs the command after it,
 * `flags` are more flags of Node.
 */
export function runScript(
  script: string,
  args: string[],
  environment: Record<string, string>,
  { wrapper = [], flags = [] }: { wrapper?: readonly string[]; flags?: readonly string[] } = {},
): Program {
  const root = new URL('..', import.meta.url).pathname;
  const guard = ['--require', `${root}scripts/end-with-parent.cjs`];
  const [program = process.execPath, ...rest] = [
    ...wrapper,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    ...flags,
    ...guard,
    `${root}scripts/${script}`,
    ...args,
  ];
  const child = spawn(program, rest, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      // the run has filled this cache: with an empty one, Deno sometimes hangs (docs/deno.md)
      DENO_DIR: process.env.DENO_DIR,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  const exited = once(child, 'exit').then(([code]) => code);
  return { process: child, printed: () => text, exited };
}

/**
 * Starts a program and waits until its output matches `ready`. `getPid` returns the process to kill, by default the
 * program itself.
 */
export async function supervise(options: {
  name: string;
  launch(): Program;
  ready: RegExp;
  getPid?: (program: Program) => number;
}): Promise<SupervisedProgram> {
  const { getPid = ({ process: child }) => Number(child.pid) } = options;
  const launchReady = async () => {
    const program = options.launch();
    await waitForOutput(options.name, program, options.ready).catch(async (error: unknown) => {
      await stopProgram(program);
      throw error;
    });
    return program;
  };
  const replace = async (stop: () => Promise<number | null>) => {
    const code = await stop();
    const before = program.printed();
    const fresh = await launchReady();
    Object.assign(program, fresh, { printed: () => before + fresh.printed() });
    return code;
  };
  const program: SupervisedProgram = {
    ...(await launchReady()),
    async killAndRestart() {
      process.kill(getPid(program), 'SIGKILL');
      await replace(() => program.exited);
    },
    restart: () => replace(() => stopProgram(program)),
  };
  return program;
}

/** Stops a program with SIGTERM. Returns its exit code. */
export function stopProgram({ process: child, exited }: Program): Promise<number | null> {
  child.kill('SIGTERM');
  return exited;
}

/** The id of the first child process of a program. */
export function getChildPid({ process: child }: Program): number {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const found = rows.find(([, parent]) => parent === String(child.pid));
  if (!found) throw new Error(`Process ${child.pid} has no child process`);
  return Number(found[0]);
}

/** Waits until a program's output matches. Rejects with the whole output if that takes too long or the program ends. */
async function waitForOutput(name: string, { printed, exited }: Program, what: RegExp): Promise<void> {
  const ended = exited.then((code) => {
    throw new Error(`${name} ended with ${code}`);
  });
  ended.catch(() => undefined);
  const matched = until(`${name} to print ${what}`, async () => what.test(printed()));
  await Promise.race([matched, ended]).catch((error: Error) => {
    error.message += `. It printed:\n${printed()}`;
    throw error;
  });
}
