/** Tests that no two processes get the same free port. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { freePorts } from './ports.ts';

const program = `
  const { freePorts } = await import(${JSON.stringify(new URL('./ports.ts', import.meta.url).href)});
  const claimed = await freePorts(300);
  process.stdout.write(JSON.stringify(claimed));
  process.stdin.resume();
`;

test('no port is returned twice, in one process or in several', async () => {
  const run = promisify(execFile);
  const processes = Array.from({ length: 4 }, () =>
    run(process.execPath, ['--input-type=module', '-e', program]),
  );
  // each process keeps its ports until all have theirs
  const outputs = processes.map(async ({ child }) => {
    let text = '';
    for await (const chunk of child.stdout ?? []) {
      text += chunk;
      if (text.endsWith(']')) break;
    }
    return JSON.parse(text) as number[];
  });
  const ports = [...(await freePorts(60)), ...(await freePorts(60)), ...(await Promise.all(outputs)).flat()];
  for (const { child } of processes) child.stdin?.end();
  await Promise.all(processes);
  expect(new Set(ports).size).toBe(4 * 300 + 120);
});
