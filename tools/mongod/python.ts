/** Runs Python, and pip, its package manager. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs pip with a short time limit for each connection. Throws with the reason, also if Python or pip is missing. */
export function pip(args: readonly string[], { cwd }: { cwd?: string } = {}): Promise<void> {
  const [command = '', ...rest] = args;
  const quiet = ['--quiet', '--timeout=15', '--retries=1'];
  const options = ['--no-input', '--disable-pip-version-check', command, ...quiet, ...rest];
  return python(['-m', 'pip', ...options], { ...(cwd !== undefined && { cwd }) });
}

/** Runs Python for at most five minutes. Throws with the reason: the last line of its errors, or what is missing. */
export async function python(args: readonly string[], { cwd }: { cwd?: string } = {}): Promise<void> {
  try {
    await promisify(execFile)('python3', args, { timeout: 300_000, ...(cwd !== undefined && { cwd }) });
  } catch (error) {
    const { code, stderr = '' } = error as { code?: string | number; stderr?: string };
    if (code === 'ENOENT' || stderr.includes('No module named pip')) {
      throw new Error(
        'it requires Python 3 with pip; install them (on Debian and Ubuntu: apt-get install python3-pip)',
      );
    }
    throw new Error(stderr.trim().split('\n').at(-1) || `Python ended with ${code ?? 'a time limit'}`);
  }
}
