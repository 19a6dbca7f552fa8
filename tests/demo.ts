/** `npm run demo` as tests use it: the real program, its files in a folder of the test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs the demo against the origin; gives its exit code and everything it printed. */
export async function runDemo(base: string, folder: string): Promise<{ code: number; text: string }> {
  const demo = new URL('../scripts/demo/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', demo, '--base', base], {
    cwd: folder,
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
