/** The five services as tests use them: a real process each, under Node or Deno, with MongoDB users of their own, joined by the gateway. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { testRabbit, until } from '#libs/testing';
import { contracts } from '../services/contracts.ts';
import { serviceUsers } from './service-users.ts';

/** A program in a process of its own. */
export interface Program {
  process: ChildProcess;
  /** Everything printed so far. */
  printed(): string;
  /** Resolves with the exit code (null after a signal). */
  exited: Promise<number | null>;
}

/** A service that is ready. */
export interface ServiceProcess extends Program {
  name: string;
  origin: string;
  management: string;
}

/** The five services. */
export interface FiveProcesses {
  /** Origin of the gateway. */
  origin: string;
  services: readonly ServiceProcess[];
  /** Stops everything; gives the exit codes, the gateway's first. */
  stop(): Promise<(number | null)[]>;
}

/** Starts all of it at once, on an empty database; the gateway knows the first replica of each. */
export async function fiveProcesses(runtime: 'node' | 'deno', replicas = 1): Promise<FiveProcesses> {
  const rabbit = await testRabbit();
  const users = await serviceUsers().catch(async (error: unknown) => {
    await rabbit.stop();
    throw error;
  });
  const servers = () => Promise.all([rabbit.stop(), users.stop()]);
  const broker = { AMQP_URL: rabbit.url, AMQP_PREFIX: `test-${randomBytes(4).toString('hex')}.` };
  const all: Program[] = [];
  const ENCRYPTION_KEY = randomBytes(32).toString('base64');
  const script = runtime === 'node' ? 'service.ts' : 'service-deno.ts';
  const begin = async (name: string) => {
    const MONGODB_URI = users.uriOf(name);
    const settings = { ...localSettings, ...broker, ENCRYPTION_KEY, MONGODB_URI };
    const program = runScript(script, [name], settings);
    all.push(program);
    const { port, managementPort } = await readyLine(name, program);
    const origin = `http://127.0.0.1:${port}`;
    return { ...program, name, origin, management: `http://127.0.0.1:${managementPort}` };
  };
  try {
    const names = contracts.flatMap(({ name }) => Array<string>(replicas).fill(name));
    const services = await Promise.all(names.map(begin));
    const addresses = services.map(({ name, origin }) => [
      `${name.toUpperCase().replaceAll('-', '_')}_URL`,
      origin,
    ]);
    const gateway = runScript('gateway.ts', [], { PORT: '0', ...Object.fromEntries(addresses.reverse()) });
    const origin = await said('the gateway', gateway, /(http:\/\/\S+:\d+)/);
    return {
      origin,
      services,
      async stop() {
        const codes = [await ended(gateway), ...(await Promise.all(all.map(ended)))];
        await servers();
        return codes;
      },
    };
  } catch (error) {
    await Promise.all(all.map(ended));
    await servers();
    throw error;
  }
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

function ended({ process: child, exited }: Program): Promise<number | null> {
  child.kill('SIGTERM');
  return exited;
}

const localSettings = {
  PORT: '0',
  MANAGEMENT_PORT: '0',
  LOG_LEVEL: 'info',
  DRAIN_SECONDS: '3',
  DEFAULT_PLAN: 'scale',
  WEBHOOK_ALLOW_INSECURE_TARGETS: 'true',
};

async function readyLine(name: string, program: Program): Promise<{ port: number; managementPort: number }> {
  const line = await said(name, program, /^(\{.*"msg":"Ready"\})$/m);
  return JSON.parse(line);
}

/** Waits until a program prints something; rejects with all it printed when it ends before. */
async function said(name: string, { printed, exited }: Program, what: RegExp): Promise<string> {
  const ended = exited.then((code) => {
    throw new Error(`${name} ended with ${code}:\n${printed()}`);
  });
  ended.catch(() => undefined);
  const words = until(`${name} says ${what}`, async () => what.exec(printed())?.[1], 40_000);
  return Promise.race([words, ended]);
}
