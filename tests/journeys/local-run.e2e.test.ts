/** Tests `npm start`: banner, demo data, persistence, startup errors and shutdown. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  apiClient,
  httpClient,
  listenLocally,
  readMetric,
  register,
  testMongo,
  until,
  untilReady,
} from '#libs/testing';
import { runDemoWith } from '../demo.ts';
import { type LocalRun, localRun, spawnLocal } from '../local-run.ts';

let dataDir: string;
let run: LocalRun;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pds-local-'));
  run = await localRun(dataDir);
});

afterAll(async () => {
  run?.process.kill('SIGTERM');
  await run?.exited;
  await rm(dataDir, { recursive: true, force: true });
});

describe('npm start', () => {
  test('prints the API, its reference, a valid key and a public link', async () => {
    const printed = run.printed();
    expect(printed).toContain(`${run.origin}/api/v1/docs`);
    expect((await get(`${run.origin}/api/v1/docs`)).status).toBe(200);
    const me = await apiClient(run.origin).request('GET', '/me', { as: findKey(printed) });
    expect(me.body).toMatchObject({ organization: { slug: 'demo' }, member: { role: 'admin' } });
    const shared = (await get(findLink(printed))).body;
    expect(shared).toMatchObject({ status: 'published', title: 'Payment system incident response' });
  });

  test('responds with links to the port on which it listens', async () => {
    const as = findKey(run.printed());
    const { request } = apiClient(run.origin);
    const [document] = (await request('GET', '/documents', { as })).body;
    const link = await request('GET', `/documents/${document.id}/share-token`, { as });
    expect(link.body.url).toBe(findLink(run.printed()));
    expect((await get(link.body.url)).body).toMatchObject({ id: document.id });
  });

  test('warns about insecure defaults', () => {
    expect(run.printed()).toMatch(/WEBHOOK_ALLOW_INSECURE_TARGETS/);
    expect(run.printed()).toMatch(/Scale plan/);
  });

  test('starts with an empty data folder and the trial plan', async () => {
    await withFolder(async (folder) => {
      const trial = await localRun(folder, { DEFAULT_PLAN: 'trial' });
      const shared = (await get(findLink(trial.printed()))).body;
      expect(shared).toMatchObject({ status: 'published', title: 'Payment system incident response' });
      trial.process.kill('SIGTERM');
      expect(await trial.exited).toBe(0);
    });
  });

  test('prints its banner with the active settings before the log', async () => {
    await withFolder(async (folder) => {
      const other = await localRun(folder, {
        LOG_LEVEL: 'info',
        LOG_FORMAT: 'json',
        WEBHOOK_ALLOW_INSECURE_TARGETS: 'false',
        LOGINS_PER_MINUTE: '20',
      });
      const printed = other.printed();
      await until('log lines', async () => /"operation":"registerOrganization"/.test(other.printed()));
      expect(printed.indexOf('Process Document Service is ready')).toBeLessThan(
        other.printed().indexOf('{"'),
      );
      expect(printed).toContain('not to this machine (WEBHOOK_ALLOW_INSECURE_TARGETS=false)');
      expect(printed).toContain('Rate limits: LOGINS_PER_MINUTE=20; no others');
      other.process.kill('SIGTERM');
      expect(await other.exited).toBe(0);
      expect(existsSync(join(folder, 'instance.json'))).toBe(false);
    });
  });

  test('writes its port into its data folder', async () => {
    const content = JSON.parse(await readFile(join(dataDir, 'instance.json'), 'utf8'));
    expect(content).toMatchObject({ pid: run.process.pid, port: Number(new URL(run.origin).port) });
    expect(run.printed()).toContain(`127.0.0.1:${content.management_port} `);
  });

  test('is found by the demo through its data folder', async () => {
    await withFolder(async (folder) => {
      const { code, text } = await runDemoWith([], folder, { DATA_DIR: dataDir, PORT: '1' });
      expect(text).toContain(`Using ${run.origin} (from the instance file in ${dataDir}).`);
      expect(text).toContain('All steps done');
      expect(code).toBe(0);
    });
  });

  test('stores its secrets in a file that only the owner can read', async () => {
    const { mode } = await import('node:fs/promises').then(({ stat }) => stat(join(dataDir, 'secrets.json')));
    expect(mode & 0o077).toBe(0);
    expect(await readFile(join(dataDir, 'secrets.json'), 'utf8')).toContain('ENCRYPTION_KEYS');
  });

  test('fails if another run uses the data folder', async () => {
    const second = spawnLocal(dataDir);
    expect(await second.exited).toBe(1);
    expect(second.printed().trim()).toMatch(/^The service is already running with the data in \S+: [^\n]+$/);
  });

  test('serves health, readiness and metrics on its management port', async () => {
    const management = /Management +(\S+)/.exec(run.printed())?.[1] ?? '';
    expect((await get(`${management}/healthz`)).status).toBe(200);
    await untilReady(management);
    expect(await readMetric(management, 'http_request_duration_seconds_count')).toBeGreaterThan(0);
    expect((await get(`${run.origin}/metrics`)).status).toBe(404);
  });

  test('keeps its data after a SIGKILL and leaves no orphaned process', async () => {
    const before = run.printed();
    run.process.kill('SIGKILL');
    await run.exited;
    run = await localRun(dataDir);
    expect(findKey(run.printed())).toBe(findKey(before));
    expect(new URL(findLink(run.printed())).pathname).toBe(new URL(findLink(before)).pathname);
    const link = new URL(findLink(run.printed()));
    expect((await get(run.origin + link.pathname)).status).toBe(200);
  });

  test('exits with 0 on Ctrl-C and leaves no process', async () => {
    run.process.kill('SIGINT');
    expect(await run.exited).toBe(0);
    await until('no process on the data', async () => findProcesses(dataDir).length === 0);
    run = await localRun(dataDir);
  });

  test('names the log and exits with 1 if MongoDB ends', async () => {
    const mongod = Number(await readFile(join(dataDir, 'db', 'mongod.lock'), 'utf8'));
    process.kill(mongod, 'SIGKILL');
    expect(await run.exited).toBe(1);
    expect(run.printed()).toContain(`MongoDB has ended unexpectedly: see ${join(dataDir, 'mongod.log')}`);
    await until('no process on the data', async () => findProcesses(dataDir).length === 0);
    run = await localRun(dataDir);
  });
});

describe('npm start prints one clear error', () => {
  test('for a taken port', async () => {
    const taken = createServer();
    const port = await listenLocally(taken);
    await withFolder(async (folder) => {
      for (const name of ['PORT', 'MANAGEMENT_PORT']) {
        const second = spawnLocal(folder, { [name]: String(port), LOG_LEVEL: 'error' });
        expect(await second.exited).toBe(1);
        expect(second.printed()).toContain(`Port ${port} is taken by another program`);
        expect(second.printed()).not.toContain('    at ');
        expect(findProcesses(folder)).toEqual([]);
      }
    });
    taken.close();
  });

  test('for all invalid settings at once, without their values', async () => {
    await withFolder(async (folder) => {
      const wrong = spawnLocal(folder, { PORT: 'many', DEFAULT_PLAN: 'gold', ENCRYPTION_KEYS: 'hunter2' });
      expect(await wrong.exited).toBe(1);
      const output = wrong
        .printed()
        .split('\n')
        .map((line) => line.trim().split(':')[0]);
      expect(output.filter((name) => /^[A-Z_]+$/.test(name ?? '')).sort()).toEqual([
        'DEFAULT_PLAN',
        'ENCRYPTION_KEYS',
        'PORT',
      ]);
      expect(wrong.printed()).not.toContain('hunter2');
    });
  });

  test('if MongoDB is not installed and cannot be downloaded', async () => {
    await withFolder(async (folder) => {
      const cache = join(folder, 'cache');
      const alone = spawnLocal(join(folder, 'data'), {
        PATH: folder,
        PDS_CACHE_DIR: cache,
        HTTPS_PROXY: 'http://127.0.0.1:9',
      });
      expect(await alone.exited).toBe(1);
      const output = alone.printed().trim().split('\n').at(-1) ?? '';
      expect(output).toMatch(/mongod|MongoDB/);
      expect(output).toMatch(/MONGODB_URI|install/i);
    });
  });

  test('for a data folder that cannot be created', async () => {
    const nowhere = spawnLocal('/dev/null/data');
    expect(await nowhere.exited).toBe(1);
    expect(nowhere.printed()).toMatch(/\/dev\/null\/data/);
    expect(nowhere.printed()).not.toContain('    at ');
  });
});

test('with MONGODB_URI, npm start has no insecure defaults or demo data', async () => {
  const mongo = await testMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = `/test_${randomBytes(6).toString('hex')}`;
  const bare = spawnLocal('/nowhere', { MONGODB_URI: uri.href });
  expect(await bare.exited).toBe(1);
  expect(bare.printed()).toContain('ENCRYPTION_KEYS: is required');

  const environment = {
    MONGODB_URI: uri.href,
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
  };
  const explicit = spawnLocal('/nowhere', environment);
  const port = await until('a ready service', async () => /"port":(\d+)/.exec(explicit.printed())?.[1]);
  const api = apiClient(`http://127.0.0.1:${port}`);
  const demo = await api.request('POST', '/auth/login', {
    body: { email: 'admin@demo.example', password: 'whatever it is' },
  });
  expect(demo.status).toBe(401);
  const { token } = await register(api);
  const webhook = { name: 'W', url: 'https://example.com/', event_types: ['document.published'] };
  const refused = await api.request('POST', '/webhooks', { as: token, body: webhook });
  expect([refused.status, refused.body.code]).toEqual([403, 'scale_plan_required']);
  explicit.process.kill('SIGTERM');
  expect(await explicit.exited).toBe(0);
  await mongo.stop();
});

const get = (url: string) => httpClient(url).request('GET', '');

function findKey(text: string): string {
  return /Demo API key +(\S+)/.exec(text)?.[1] ?? '';
}

function findLink(text: string): string {
  return /Public link +(\S+)/.exec(text)?.[1] ?? '';
}

/** The processes whose command line contains a folder. */
function findProcesses(folder: string): string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(folder));
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-local-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
