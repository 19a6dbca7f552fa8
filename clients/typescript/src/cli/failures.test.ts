/** Tests what is printed when a command fails before its end, or its address is wrong. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closeServer, listenLocally, textCollector } from '../../../../libs/testing/mod.ts';
import { runCommandLine } from './run.ts';

let folder: string;
let server: Server;
let url: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-assets-'));
  server = createServer(async (request, response) => {
    await text(request);
    response.setHeader('content-type', 'application/json').writeHead(201).end('{"src":"asset:1"}');
  });
  url = `http://127.0.0.1:${await listenLocally(server)}`;
});
afterEach(async () => {
  await closeServer(server);
  await rm(folder, { recursive: true });
});

async function run(args: readonly string[], env: Record<string, string>) {
  const [stdout, stderr] = [textCollector(), textCollector()];
  const streams = { stdin: Readable.from([]), stdout: stdout.stream, stderr: stderr.stream };
  const code = await runCommandLine(args, {
    ...{ ...streams, env, cwd: folder, signal: new AbortController().signal },
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

test('the pictures before one that cannot be read are printed', async () => {
  await writeFile(join(folder, 'a.png'), 'x');
  const { code, stdout, stderr } = await run(['assets', 'upload', 'a.png', 'missing.png'], {
    ...{ PDS_URL: url, PDS_KEY: 'pds_key' },
  });
  expect([code, stdout]).toEqual([1, 'asset:1\n']);
  expect(stderr).toContain('missing.png');
});

test('the file of an audit log is sought in the working folder', async () => {
  await writeFile(join(folder, 'log.jsonl'), '');
  expect(await run(['audit', 'verify', 'log.jsonl'], {})).toMatchObject({ code: 0, stderr: '' });
  const { code, stderr } = await run(['audit', 'verify', 'missing.jsonl'], {});
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(`^Error: Cannot read ${join(folder, 'missing.jsonl')}: ENOENT`),
  ]);
});

test('a management port that is not reachable is named', async () => {
  const env = { OPS_TOKEN: 'token', PDS_OPS_URL: 'http://127.0.0.1:9' };
  const { code, stderr } = await run(['ops', 'organizations', 'create', 'A'], env);
  expect([code, stderr]).toEqual([6, expect.stringContaining('Check the management port (--ops-url')]);
});

test('--json after -- is no option', async () => {
  const { code, stderr } = await run(['docs', 'get', '--', '--json'], {});
  expect([code, stderr]).toEqual([3, expect.stringMatching(/^Error: Not logged in/)]);
});

test('an unknown event type is explained', async () => {
  const { code, stderr } = await run(['listen', '--event', 'document.publishd'], {});
  expect([code, stderr]).toEqual([2, expect.stringContaining('--event cannot be "document.publishd"')]);
});
