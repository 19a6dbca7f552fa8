/** Programs of the project as tests use them: real processes, with just the environment they are given. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { until } from '#libs/testing';

/** A program in a process of its own. */
export interface Program {
  process: ChildProcess;
  /** Everything printed so far. */
  printed(): string;
  /** Resolves with the exit code (null after a signal). */
  exited: Promise<number | null>;
}

/** A program that is kept running, always at the same address. */
export interface SupervisedProgram extends Program {
  /** SIGKILLs it and starts it again, as an orchestrator does; resolves when it is ready. The other fields are then the new one's; what it prints goes on where the old one ended. */
  killAndRestart(): Promise<void>;
  /** SIGTERMs it and starts it again, as a rolling restart does; gives the exit code of the one that ended. */
  restart(): Promise<number | null>;
}

/** Runs a script of the project with just this environment. */
export function runScript(script: string, words: string[], environment: Record<string, string>): Program {
  const root = new URL('..', import.meta.url).pathname;
  const guard = ['--require', `${root}scripts/end-with-parent.cjs`];
  const flags = ['--disable-warning=ExperimentalWarning', ...guard];
  const child = spawn(process.execPath, [...flags, `${root}scripts/${script}`, ...words], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
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

/** Keeps a program: `launch` starts it, `ready` is what it prints once it works, `pidOf` says who does the work. */
export async function supervise(options: {
  name: string;
  launch(): Program;
  ready: RegExp;
  pidOf?: (program: Program) => number;
}): Promise<SupervisedProgram> {
  const { pidOf = ({ process: child }) => Number(child.pid) } = options;
  const launchReady = async () => {
    const program = options.launch();
    await waitForOutput(options.name, program, options.ready).catch(async (error: unknown) => {
      await stopProgram(program);
      throw error;
    });
    return program;
  };
  const replace = async (ending: () => Promise<number | null>) => {
    const code = await ending();
    const before = program.printed();
    const fresh = await launchReady();
    Object.assign(program, fresh, { printed: () => before + fresh.printed() });
    return code;
  };
  const program: SupervisedProgram = {
    ...(await launchReady()),
    async killAndRestart() {
      process.kill(pidOf(program), 'SIGKILL');
      await replace(() => program.exited);
    },
    restart: () => replace(() => stopProgram(program)),
  };
  return program;
}

/** Stops a program in order; gives its exit code. */
export function stopProgram({ process: child, exited }: Program): Promise<number | null> {
  child.kill('SIGTERM');
  return exited;
}

/** The process that a program has started to do its work. */
export function getChildPid({ process: child }: Program): number {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const found = rows.find(([, parent]) => parent === String(child.pid));
  if (!found) throw new Error(`Process ${child.pid} has started no other`);
  return Number(found[0]);
}

/** Waits until a program prints something; rejects with all it printed when it ends before. */
async function waitForOutput(name: string, { printed, exited }: Program, what: RegExp): Promise<void> {
  const ended = exited.then((code) => {
    throw new Error(`${name} ended with ${code}:\n${printed()}`);
  });
  ended.catch(() => undefined);
  await Promise.race([until(`${name} says ${what}`, async () => what.test(printed()), 60_000), ended]);
}
