/** Runs pip, the package manager of Python. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs pip with a short time limit for each connection. Throws with the reason, also if Python or pip is missing. */
export async function pip(args: readonly string[], { cwd }: { cwd?: string } = {}): Promise<void> {
  const [command = '', ...rest] = args;
  const quiet = ['--quiet', '--timeout=15', '--retries=1'];
  const all = ['-m', 'pip', '--no-input', '--disable-pip-version-check', command, ...quiet, ...rest];
  try {
    await promisify(execFile)('python3', all, { timeout: 300_000, ...(cwd !== undefined && { cwd }) });
  } catch (error) {
    const { code, stderr = '' } = error as { code?: string | number; stderr?: string };
    if (code === 'ENOENT' || stderr.includes('No module named pip')) {
      throw new Error(
        'it requires Python 3 with pip; install them (on Debian and Ubuntu: apt-get install python3-pip)',
      );
    }
    throw new Error(stderr.trim().split('\n').at(-1) || `pip ended with ${code ?? 'a time limit'}`);
  }
}
