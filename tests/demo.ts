/** Runs `npm run demo` as a separate process that writes its files into a folder of the test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The steps of the demo. */
export const demoSteps = 14;

/** Runs the demo against an origin. Returns its exit code and its output. */
export function runDemo(base: string, folder: string): Promise<{ code: number; text: string }> {
  return runDemoWith(['--base', base], folder);
}

/** Runs the demo with arguments, and with settings in addition to the environment. */
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
