/** Tests `npm start` with closed registration. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { httpClient } from '#libs/testing';
import { localRun } from '../local-run.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pds-local-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** Starts with this setting, checks what was printed, and stops. */
async function runWith(REGISTRATION: string, check: (printed: string) => Promise<void>): Promise<void> {
  const run = await localRun(dataDir, { REGISTRATION });
  try {
    await check(run.printed());
  } finally {
    run.process.kill('SIGTERM');
  }
  expect(await run.exited).toBe(0);
}

test('a first start shows how the operator creates an organization', async () => {
  await runWith('closed', async (printed) => {
    expect(printed).not.toContain('Demo API key');
    const url = /curl -X POST (\S+\/ops\/organizations) /.exec(printed)?.[1] ?? '';
    const { OPS_TOKEN } = JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8'));
    const body = { name: 'Harbour' };
    expect((await httpClient(url).request('POST', '', { as: OPS_TOKEN, body })).status).toBe(201);
  });
});

test('a demo organization from before stays usable', async () => {
  const openLink = async (printed: string) => {
    const link = /Public link +(\S+)/.exec(printed)?.[1] ?? '';
    expect((await httpClient(link).request('GET', '')).status).toBe(200);
  };
  await runWith('open', openLink);
  await runWith('closed', openLink);
});
