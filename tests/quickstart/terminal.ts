/** A terminal in which a test runs commands like a reader: one shell, which keeps its folder and its variables. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { slowness, until } from '#libs/testing';

/** An open terminal. */
export interface Terminal {
  /** Runs commands to their end. Returns what they print. Rejects if one of them fails. */
  run(commands: string): Promise<string>;
  /** Types commands, and waits until the output matches. */
  start(commands: string, ready: RegExp): Promise<void>;
  /** Everything printed so far. */
  printed(): string;
  /** Stops all of its processes, as Ctrl-C does. */
  close(): Promise<void>;
}

/** Commands may take long where packages are installed, ms. */
const limitMs = 180_000;

/** Before the first command: a failure ends the shell, and curl fails on errors of the service. */
const prelude = `set -euo pipefail
curl() { command curl --fail-with-body --silent --show-error "$@"; }
`;

/** Opens a terminal in a folder. It gets only the given environment. */
export function openTerminal(cwd: string, env: Record<string, string | undefined>): Terminal {
  const child = spawn('bash', [], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  let all = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      all += part;
    });
  let hasEnded = false;
  const closed = once(child, 'close').then(() => {
    hasEnded = true;
  });
  // a command that failed has ended the shell; `run` reports it
  child.stdin.on('error', () => {});
  child.stdin.write(prelude);
  let count = 0;
  const waitFor = async (commands: string, from: number, end: RegExp) => {
    const matches = async () => end.test(all.slice(from)) || hasEnded;
    await until(`the end of:\n${commands}`, matches, limitMs * slowness).catch((error: Error) => {
      throw new Error(`${error.message}\n${all.slice(from)}`);
    });
    const printed = all.slice(from);
    if (!end.test(printed)) throw new Error(`These commands failed:\n${commands}\n${printed}`);
    return printed;
  };
  return {
    async run(commands) {
      const from = all.length;
      count += 1;
      const end = `--- end of block ${count} ---`;
      child.stdin.write(`${commands}\nprintf '%s\\n' '${end}'\n`);
      return (await waitFor(commands, from, new RegExp(end))).replace(`${end}\n`, '');
    },
    async start(commands, ready) {
      child.stdin.write(`${commands}\n`);
      await waitFor(commands, all.length, ready);
    },
    printed: () => all,
    async close() {
      // nothing to stop if the shell has ended by itself
      if (!hasEnded && child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      child.stdin.end();
      await closed;
    },
  };
}
