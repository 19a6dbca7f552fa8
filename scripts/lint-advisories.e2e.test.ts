/** Tests the check for known vulnerabilities against a registry of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from '@jest/globals';
import { closeServer, freePorts, listenLocally } from '#libs/testing';
import { runScript } from '../tests/programs.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Starts a registry that has these advisories. Returns its address and the packages that it was asked about. */
async function startRegistry(advisories: object) {
  const asked: Record<string, string[]> = {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const isPacked = request.headers['content-encoding'] === 'gzip';
      if (request.method === 'POST')
        Object.assign(asked, JSON.parse(String(isPacked ? gunzipSync(bytes) : bytes)));
      response.setHeader('content-type', 'application/json');
      // npm reads the versions of a package with an advisory
      const name = decodeURIComponent(request.url?.slice(1) ?? '');
      response.end(JSON.stringify(request.method === 'POST' ? advisories : { name, versions: {} }));
    });
  });
  const port = await listenLocally(server);
  open.push(() => closeServer(server));
  return { url: `http://127.0.0.1:${port}/`, asked };
}

/** Runs the check with a registry and an empty cache: npm keeps advisories by their ids. */
async function lint(registry: string): Promise<{ code: number | null; text: string }> {
  const cache = await mkdtemp(join(tmpdir(), 'pds-npm-'));
  open.push(() => rm(cache, { recursive: true, force: true }));
  const environment = { npm_config_registry: registry, npm_config_cache: cache };
  const { exited, printed } = runScript('lint-advisories.ts', [], environment);
  return { code: await exited, text: printed() };
}

const createAdvisory = (severity: string) => ({
  express: [
    {
      ...{ id: 1, url: 'https://example.com/advisory', title: 'Something is wrong', severity },
      vulnerable_versions: '*',
    },
  ],
});

test('packages without advisories pass', async () => {
  const { url, asked } = await startRegistry({});
  const { code, text } = await lint(url);
  expect([code, text]).toEqual([0, expect.stringMatching(/^\d+ packages checked: 0 with advisories/m)]);
  expect(Object.keys(asked)).toEqual(expect.arrayContaining(['express', 'mongoose', 'jest']));
});

test.each([
  ['moderate', 0],
  ['high', 1],
  ['critical', 1],
])('an advisory that is %s ends with the exit code %d', async (severity, expected) => {
  const { url } = await startRegistry(createAdvisory(severity));
  const { code, text } = await lint(url);
  expect([code, text]).toEqual([expected, expect.stringContaining('https://example.com/advisory')]);
});

test('a registry that cannot be reached is reported as not checked', async () => {
  const [port] = await freePorts(1);
  const { code, text } = await lint(`http://127.0.0.1:${port}/`);
  expect([code, text]).toEqual([0, expect.stringMatching(/^NOT CHECKED: known vulnerabilities/)]);
});
