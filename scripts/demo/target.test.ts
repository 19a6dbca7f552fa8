/** Tests how the demo finds the instance to use. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { freePorts, listenLocally } from '#libs/testing';
import { runDemo, runDemoWith } from '../../tests/demo.ts';
import { writeInstanceFile } from '../../tools/local-run/instance-file.ts';
import { findTarget } from './target.ts';

let folder: string;
const before = process.cwd();
const running = { port: 8090, managementPort: 9490 };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-target-'));
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true, force: true });
});

describe('the target of the demo', () => {
  test('--base takes precedence over all settings', async () => {
    await writeInstanceFile(folder, running);
    const environment = { DATA_DIR: folder, PORT: '9000' };
    for (const base of ['https://docs.example.com', 'https://docs.example.com/api/v1/'])
      expect(await findTarget(base, environment)).toEqual({
        origin: 'https://docs.example.com',
        source: '--base',
        notes: [],
      });
  });

  test('the running instance of DATA_DIR takes precedence over PORT', async () => {
    await writeInstanceFile(folder, running);
    expect(await findTarget(undefined, { DATA_DIR: folder, PORT: '9000' })).toEqual({
      origin: 'http://127.0.0.1:8090',
      source: `the instance file in ${folder}`,
      notes: [],
    });
  });

  test('without a running instance in DATA_DIR, PORT or 8080 is used', async () => {
    const notes = [`No instance is running with the data in ${folder}.`];
    const expected = { origin: 'http://127.0.0.1:9000', source: 'PORT', notes };
    expect(await findTarget(undefined, { DATA_DIR: folder, PORT: '9000' })).toEqual(expected);
    expect(await findTarget(undefined, { DATA_DIR: folder })).toMatchObject({
      origin: 'http://127.0.0.1:8080',
      notes,
    });
  });

  test('the default data folder is used if no setting is set', async () => {
    await mkdir('.data');
    await writeInstanceFile('.data', running);
    expect((await findTarget(undefined, {})).origin).toBe('http://127.0.0.1:8090');
    expect((await findTarget(undefined, { PORT: '9000' })).origin).toBe('http://127.0.0.1:9000');
  });

  test('an instance file of an ended process is reported and ignored', async () => {
    const { pid } = spawnSync('true');
    const content = { pid, started: '1', port: 8090, management_port: 9490 };
    await writeFile('instance.json', JSON.stringify(content));
    expect(await findTarget(undefined, { DATA_DIR: folder })).toEqual({
      origin: 'http://127.0.0.1:8080',
      source: 'the default port',
      notes: [`The instance of ${folder} (process ${pid}) is no longer running.`],
    });
  });

  test('an invalid address or port is rejected', async () => {
    await expect(findTarget('docs.example.com', {})).rejects.toThrow('--base is docs.example.com');
    await expect(findTarget(undefined, { PORT: 'many' })).rejects.toThrow('PORT is many');
  });
});

describe('the demo', () => {
  test('mentions --base if no service is running', async () => {
    const [port] = await freePorts(1);
    const { code, text } = await runDemo(`http://127.0.0.1:${port}`, folder);
    expect(code).toBe(1);
    expect(text).toContain(`Using http://127.0.0.1:${port} (from --base).`);
    expect(text).toMatch(/No service is running at \S+\. .*--base URL/);
  });

  test('sends only one GET to a program that is not this service', async () => {
    const methods: string[] = [];
    const server = createServer(({ method }, response) => {
      methods.push(String(method));
      response.end('<h1>Another program</h1>');
    });
    const port = await listenLocally(server);
    const { code, text } = await runDemo(`http://127.0.0.1:${port}`, folder);
    server.close();
    expect(code).toBe(1);
    expect(text).toContain('is not this service');
    expect(methods).toEqual(['GET']);
  });

  test('prints its usage on --help and rejects unknown flags', async () => {
    const help = await runDemoWith(['--help'], folder);
    expect(help.code).toBe(0);
    expect(help.text).toMatch(/--base .*DATA_DIR.*PORT/s);
    const wrong = await runDemoWith(['--port=1'], folder);
    expect(wrong.code).toBe(1);
    expect(wrong.text).toMatch(/Unknown option '--port'.*--base/s);
    expect(wrong.text).not.toContain('    at ');
  });
});
