/** Tests running blocks: errors name the page and line, and stopping a block stops all its processes. */
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { listenLocally, until } from '#libs/testing';
import type { Block } from './blocks.ts';
import { runInBackground, runToEnd } from './shell.ts';

const place = { folder: tmpdir(), environment: { PATH: process.env.PATH } };
const block = (text: string): Block => ({ page: 'docs/page.md', line: 7, text });

test('running a block returns its output', async () => {
  expect(await runToEnd(block('echo one\necho two >&2\n'), place)).toMatch(/one\s+two|two\s+one/);
});

test.each(['false\necho later\n', 'no-such-command\n', 'echo $NO_SUCH_VARIABLE\n', 'exit 3\n'])(
  'a failing block rejects with its page and line (%j)',
  async (text) => {
    await expect(runToEnd(block(text), place)).rejects.toThrow('docs/page.md:7: the block ended with');
  },
);

test('a block fails if curl gets an HTTP error', async () => {
  const server = createServer((_, response) => response.writeHead(404).end('not here'));
  const port = await listenLocally(server);
  const ended = runToEnd(block(`curl http://127.0.0.1:${port}/\n`), place).finally(() => server.close());
  await expect(ended).rejects.toThrow('not here');
});

test('a background block that ends before it is ready rejects', async () => {
  const { ready } = runInBackground(block('echo no; exit 1\n'), place, { isReady: () => false });
  await expect(ready).rejects.toThrow('ended with 1 before it was ready');
});

test('stopping a background block stops all its processes', async () => {
  const running = runInBackground(block('echo "$$ ready"; sleep 600 & sleep 600\n'), place, {
    isReady: (printed) => printed.includes('ready'),
  });
  await running.ready;
  const group = Number(/^(\d+) ready/.exec(running.printed())?.[1]);
  await running.stop();
  await until('no process of the group', async () => {
    try {
      process.kill(-group, 0);
      return false;
    } catch {
      return true;
    }
  });
});
