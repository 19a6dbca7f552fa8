/** Tests compose.yaml and the all-in-one image with the Docker of this machine. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, httpClient, until } from '#libs/testing';
import { createCertificates } from './certificates.ts';
import { type Compose, createCompose, docker } from './docker.ts';
import { checkRoutes, checkTenant, runStory } from './story.ts';

const startSeconds = '300';

/** Runs all steps. Rejects with the first one that fails. `files` replace parts of compose.yaml. */
export async function testContainers(files: readonly string[]): Promise<void> {
  const unique = randomBytes(4).toString('hex');
  const folder = await mkdtemp(join(tmpdir(), 'pds-compose-'));
  try {
    await testCompose(`pds-test-${unique}`, folder, files);
    await testAllInOne(`pds-test-${unique}`);
    console.log('\nAll steps done.');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function testCompose(project: string, folder: string, files: readonly string[]): Promise<void> {
  const [port] = await freePorts(1);
  const origin = `http://127.0.0.1:${port}`;
  const compose = createCompose(project, [...files, 'scripts/compose/receiver.yaml'], {
    PORT: String(port),
    // not the network of an instance on the same machine
    SUBNET: '10.214.0.0/24',
    RECEIVER_CERTIFICATES: folder,
  });
  const start = () => compose('up', '--detach', '--wait', '--wait-timeout', startSeconds);
  const received = () => compose('logs', '--no-log-prefix', 'receiver');
  await createCertificates(folder);
  try {
    await step('build the image', () => compose('build'));
    await step('docker compose up', start);
    await step('the ingress forwards every operation and nothing else', () => checkRoutes(origin));
    const tenant = await step('register, publish, share, export, receive a webhook', () =>
      runStory(origin, received),
    );
    await step('each service reads only its own secrets', () => checkSecrets(compose));
    await step('a stopped service is 503, the others work', () => checkStoppedService(origin, compose));
    const before = await readSecrets(compose);
    await step('docker compose down and up keeps data and secrets', async () => {
      await compose('down');
      await start();
      await checkTenant(origin, tenant);
      assert.equal(await readSecrets(compose), before);
    });
    await step('docker compose down', () => compose('down', '--volumes'));
  } catch (error) {
    console.error(await compose('ps', '--all').catch(String));
    console.error(await compose('logs', '--tail', '20').catch(String));
    throw error;
  } finally {
    await compose('down', '--volumes', '--timeout', '1').catch((error: unknown) =>
      console.error(String(error)),
    );
  }
}

function readSecrets(compose: Compose): Promise<string> {
  const print = "fs.readFileSync('/secrets/all/secrets.json', 'utf8')";
  return compose('run', '--rm', '--no-deps', 'secrets', '--print', print);
}

async function checkSecrets(compose: Compose): Promise<void> {
  const list = "fs.readdirSync('/secrets', { recursive: true }).join() + ' ' + process.getuid()";
  const exec = (service: string, script: string) =>
    compose('exec', service, '/nodejs/bin/node', '--print', script);
  assert.equal((await exec('documents', list)).trim(), 'settings.env 65532');
  const names = (await exec('documents', "fs.readFileSync('/secrets/settings.env', 'utf8')")).match(/^\w+/gm);
  assert.deepEqual(names, ['MONGODB_URI', 'AMQP_URL', 'ENCRYPTION_KEYS']);
}

async function checkStoppedService(origin: string, compose: Compose): Promise<void> {
  const client = httpClient(origin);
  await compose('stop', 'export');
  const { status, body, headers } = await client.request('GET', '/api/v1/templates');
  assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'unavailable', '2']);
  assert.equal((await client.request('GET', '/api/v1/openapi.json')).status, 200);
  await compose('up', '--detach', '--no-deps', 'export');
  await until('the service', async () => (await client.request('GET', '/api/v1/templates')).status === 401);
}

/** Runs the image for trying, kills it, and starts another container with its data. */
async function testAllInOne(name: string): Promise<void> {
  const image = 'process-document-service:all-in-one';
  const bases = ['BUILD_BASE', 'NODE_BASE', 'DENO_BASE', 'MONGO_BASE'].filter((base) => process.env[base]);
  const args = bases.flatMap((base) => ['--build-arg', base]);
  const volume = `${name}:/var/lib/process-document-service`;
  const [port] = await freePorts(1);
  const origin = `http://127.0.0.1:${port}`;
  const run = ['run', '--detach', '--name', name, '--publish', `127.0.0.1:${port}:8080`, '--volume', volume];
  const start = async () => {
    await docker([...run, '--env', `APP_URL=${origin}`, image]);
    return until(
      'the demo organization',
      async () => /Demo API key +(\S+)\n +Public link +(\S+)/.exec(await docker(['logs', name])),
      Number(startSeconds) * 1_000,
    );
  };
  const check = async ([, key = '', link = '']: RegExpExecArray) => {
    const documents = await httpClient(origin).request('GET', '/api/v1/documents', { as: key });
    const { id } = documents.body[0];
    await checkTenant(origin, { key, documentId: id, link: link.slice(origin.length) });
    const state = ['inspect', name, '--format', '{{.State.Health.Status}}'];
    await until('the health check', async () => (await docker(state)).trim() === 'healthy');
  };
  try {
    await step('build the all-in-one image', () =>
      docker(['build', ...args, '--target', 'all-in-one', '--tag', image, '.']),
    );
    const first = await step('docker run', start);
    await step('the demo key and the public link work', () => check(first));
    const second = await step('a killed container leaves its data', async () => {
      await docker(['kill', name]);
      await docker(['rm', name]);
      return start();
    });
    assert.equal(second[0], first[0]);
    await step('the demo key and the public link still work', () => check(second));
    await step('docker stop ends all processes', async () => {
      await docker(['stop', name]);
      const exit = await docker(['inspect', name, '--format', '{{.State.ExitCode}}']);
      assert.equal(exit.trim(), '0');
    });
  } catch (error) {
    console.error(await docker(['logs', '--tail', '50', name]).catch(String));
    throw error;
  } finally {
    await docker(['rm', '--force', name]).catch(() => {});
    await docker(['volume', 'rm', '--force', name]).catch(() => {});
  }
}

/** Runs a step and prints its name, its result if that is a text, and its time. */
async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    const result = await work();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const isSummary = typeof result === 'string' && !result.includes('\n');
    console.log(`✓ ${name.padEnd(58)} ${isSummary ? result : ''} (${seconds} s)`);
    return result;
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
