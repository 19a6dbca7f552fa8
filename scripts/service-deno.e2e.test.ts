/** Tests services under Deno: their permissions, their error messages and their end. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { testMongo, until } from '#libs/testing';
import { documents } from '../services/documents/service.ts';
import { identity } from '../services/identity/service.ts';
import { sharing } from '../services/sharing/service.ts';
import { webhookDelivery } from '../services/webhook-delivery/service.ts';
import { getChildPid, runScript } from '../tests/programs.ts';
import { denoBinary } from './deno-binary.ts';
import { denoPermissions } from './deno-permissions.ts';

const environment = {
  MONGODB_URI: 'mongodb://sharing:p%40ss@one:27018,two,[::1]:27019/pds?replicaSet=x',
  HOST: '127.0.0.1',
  PORT: '8103',
  MANAGEMENT_PORT: '9503',
};

/** The folders with the code, which every worker loads again. */
const code = ['services', 'libs', 'node_modules'];

describe('the Deno permissions', () => {
  test('contain the settings, servers and ports of the service', () => {
    const flags = denoPermissions(sharing, environment);
    expect(flag(flags, 'allow-net')).toEqual([
      'one:27018',
      'two:27017',
      '[::1]:27019',
      '127.0.0.1:8103',
      '127.0.0.1:9503',
    ]);
    expect(flag(flags, 'allow-env')).toContain('EMBED_CACHE_MB');
    expect(flag(flags, 'allow-env')).not.toContain('OPS_TOKEN');
    expect(flags.join()).not.toContain('ss@');
    expect(flags).toContain('--no-prompt');
  });

  test('contain default ports and the addresses in PDS_ALLOW_NET', () => {
    const flags = denoPermissions(documents, {
      MONGODB_URI: 'mongodb://cluster.example/pds',
      AMQP_URL: 'amqps://u:p@broker.example',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/v1',
      PDS_ALLOW_NET: 'a.cluster.example:27017,1.1.1.1:53',
    });
    for (const host of [
      'broker.example:5671',
      'collector.example:443',
      'a.cluster.example:27017',
      '0.0.0.0:8080',
    ])
      expect(flag(flags, 'allow-net')).toContain(host);
  });

  test('reject mongodb+srv and invalid addresses with an explanation', () => {
    const named = { MONGODB_URI: 'mongodb+srv://cluster.example/pds' };
    expect(() => denoPermissions(documents, named)).toThrow(
      /MONGODB_URI: a mongodb\+srv address does not contain its servers, .* or list the servers and the DNS server in PDS_ALLOW_NET/,
    );
    const listed = { ...environment, ...named, PDS_ALLOW_NET: 'a.cluster.example:27017,1.1.1.1:53' };
    expect(flag(denoPermissions(documents, listed), 'allow-net')).toEqual([
      '127.0.0.1:8103',
      '127.0.0.1:9503',
      'a.cluster.example:27017',
      '1.1.1.1:53',
    ]);
    expect(() => denoPermissions(documents, { MONGODB_URI: 'secret' })).toThrow('MONGODB_URI: must be a URL');
    expect(() => denoPermissions(documents, { MONGODB_URI: 'secret' })).not.toThrow('secret');
  });

  test('give only webhook delivery full network access and never write access', () => {
    expect(denoPermissions(webhookDelivery, environment)).toContain('--allow-net');
    for (const service of [documents, sharing, webhookDelivery])
      expect(flag(denoPermissions(service, environment), 'allow-read')).toEqual(code);
    expect(flag(denoPermissions(identity, environment), 'allow-read')).toEqual([
      ...code,
      'docs/contracts/openapi.json',
    ]);
    for (const service of [documents, sharing, webhookDelivery, identity])
      expect(denoPermissions(service, environment).join()).not.toMatch(/allow-(write|run|ffi|all|import)|-A/);
  });

  test('are enforced by Deno', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await until('a port', async () => other.listening);
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const program = `
      const attempt = async (work) => { try { return String(await work()) } catch (error) { return error.name } };
      console.log(JSON.stringify({
        read: await attempt(() => Deno.readTextFile('package.json')),
        write: await attempt(() => Deno.writeTextFile('x', 'x')),
        run: await attempt(() => new Deno.Command('ls').output()),
        net: await attempt(() => Deno.connect({ hostname: '127.0.0.1', port: ${port} })),
        env: await attempt(() => Deno.env.get('HOME')),
        own: await attempt(() => Deno.env.get('PORT')),
      }));`;
    const flags = denoPermissions(sharing, environment);
    const main = `data:text/javascript,${encodeURIComponent(program)}`;
    const { stdout } = spawnSync(await denoBinary(), ['run', ...flags, main], {
      encoding: 'utf8',
      env: { ...environment, HOME: '/somewhere', PATH: process.env.PATH },
    });
    other.close();
    const denied = 'NotCapable';
    expect(JSON.parse(stdout)).toEqual({
      read: denied,
      write: denied,
      run: denied,
      net: denied,
      env: 'undefined',
      own: '8103',
    });
  });
});

test.each(['service.ts', 'service-deno.ts'])(
  '%s lists the services if the name is missing or unknown',
  async (script) => {
    const unknown = runScript(script, ['documnts'], {});
    expect(await unknown.exited).toBe(1);
    expect(unknown.printed()).toMatch(
      /^Unknown service: documnts\. Run npm run service\S* -- <name> with one of identity, [^\n]+\.\n$/,
    );
    const nameless = runScript(script, [], {});
    expect(await nameless.exited).toBe(1);
    expect(nameless.printed()).toMatch(/^The name of the service is missing\. /);
  },
);

test('all invalid settings are reported at once under Deno', async () => {
  const run = runScript('service-deno.ts', ['identity'], {
    MONGODB_URI: 'mongodb://127.0.0.1:9/x',
    DEFAULT_PLAN: 'gold',
  });
  expect(await run.exited).toBe(1);
  expect(run.printed()).toContain('ENCRYPTION_KEYS: is required');
  expect(run.printed()).toContain('DEFAULT_PLAN: ');
});

test('Deno ends when its parent process is killed by SIGKILL', async () => {
  const mongo = await testMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = `/test_${randomBytes(6).toString('hex')}`;
  const run = runScript('service-deno.ts', ['documents'], {
    MONGODB_URI: uri.href,
    // the broker is not needed before the service is ready
    AMQP_URL: 'amqp://127.0.0.1:9',
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    PORT: '0',
    MANAGEMENT_PORT: '0',
  });
  // without identity, the service waits for its views
  await until('a running Deno process', async () => run.printed().includes('Waiting for the views'));
  const deno = getChildPid(run);
  run.process.kill('SIGKILL');
  try {
    await until('the end of Deno', async () => !isAlive(deno));
  } finally {
    if (isAlive(deno)) process.kill(deno, 'SIGKILL');
    await mongo.stop();
  }
});

function flag(flags: readonly string[], name: string): string[] {
  const found = flags.find((text) => text.startsWith(`--${name}=`)) ?? '';
  return found.slice(name.length + 3).split(',');
}

function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  // a zombie process counts as ended
  return /^[^Z\s]/.test(stdout.trim());
}
