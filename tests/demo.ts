/** `npm run demo` as tests use it: the real program, its files in a folder of the test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs the demo against the address; gives its exit code and everything it printed. */
export function runDemo(base: string, folder: string): Promise<{ code: number; text: string }> {
  return runDemoWith(['--base', base], folder);
}

/** Runs the demo with these arguments and these settings beside the environment's own. */
export async function runDemoWith(
  args: readonly string[],
  folder: string,
  settings: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const demo = new URL('../scripts/demo/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', demo, ...args], {
    cwd: folder,
    env: { ...process.env, ...settings },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const [code] = await once(child, 'close');
  return { code, text };
}
