/** Tests the installed program `pds` against real services. */
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  addMember,
  createWebhook,
  findTestProgram,
  must,
  opsToken,
  publishDocument,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { denoBinary } from '../../scripts/deno-binary.ts';
import { createPdsFixture, type PdsFixture } from './pds-fixture.ts';
import { runOrThrow, start } from './programs.ts';

const root = join(import.meta.dirname, '../..');
let pds: PdsFixture;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [pds, receiver] = await Promise.all([createPdsFixture(), webhookReceiver()]);
});
afterAll(async () => {
  await Promise.all([pds?.close(), receiver?.close()]);
});

describe('login', () => {
  const file = () => join(pds.folder, 'config/pds/credentials.json');

  test('stores a key from stdin, after it was accepted', async () => {
    const { admin } = await pds.createAdmin();
    const wrong = await pds.run(['login', '--url', pds.app.origin], { input: 'pds_wrong\n' });
    expect(wrong).toMatchObject({ code: 3, stdout: '' });
    expect(wrong.stderr).toContain('Error: ');
    await expect(stat(file())).rejects.toThrow('ENOENT');

    const { code, stdout } = await pds.run(['login', '--url', `${pds.app.origin}/api/v1/`], {
      input: `${admin.key}\n`,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining(`as ${admin.email}`)]);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await pds.run(['docs', 'list'])).code).toBe(0);

    const { stdout: left } = await pds.run(['logout']);
    expect(left).toContain('The API key is still valid');
    expect(await pds.run(['docs', 'list'])).toMatchObject({
      code: 3,
      stderr: 'Error: Not logged in. Run `pds login`, or set PDS_URL and PDS_KEY.\n',
    });
  });

  test('creates a key with email and password, and logout revokes it', async () => {
    const { admin } = await pds.createAdmin();
    const args = ['login', '--url', pds.app.origin, '--email', admin.email];
    expect(await pds.run(args, { input: 'not the password' })).toMatchObject({ code: 3 });
    expect(await pds.json(args, { input: admin.password })).toMatchObject({ email: admin.email });
    const { key, key_id } = JSON.parse(await readFile(file(), 'utf8'));
    const keys = await must(pds.app, 'GET', '/api-keys', { as: admin.key });
    expect(keys).toContainEqual(expect.objectContaining({ id: key_id, role: 'member' }));
    expect((await pds.run(['logout'])).stdout).toContain('The API key is revoked.');
    expect((await pds.app.request('GET', '/me', { as: key })).status).toBe(401);
  });

  test('asks a person in several organizations which one', async () => {
    const { admin } = await pds.createAdmin();
    const { admin: other } = await pds.createAdmin();
    await addMember(pds.app, other.key, { email: admin.email, password: admin.password });
    const args = ['login', '--url', pds.app.origin, '--email', admin.email];
    const { code, stderr } = await pds.run(args, { input: admin.password });
    expect([code, stderr]).toEqual([2, expect.stringContaining(other.slug)]);
    const chosen = await pds.json([...args, '--organization', other.slug], { input: admin.password });
    expect(chosen.organization).toBe(other.slug);
    await pds.run(['logout']);
  });

  test('hides what is typed on a terminal', async () => {
    const script = await findTestProgram('script', {
      purpose: 'typing a key on a terminal',
      from: 'bsdutils',
    });
    if (!script) return;
    const { admin } = await pds.createAdmin();
    const command = `'${pds.node}' '${pds.consumer.pds}' login --url '${pds.app.origin}'`;
    // the program reads the typed line from the terminal that `script` creates
    const typing = start(script, ['-qec', command, '/dev/null'], {
      env: { ...pds.env, TERM: 'xterm' },
      input: `${admin.key}\r`,
    });
    const { code, stdout } = await typing.ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('API key: ')]);
    expect(stdout).toContain(`as ${admin.email}`);
    await pds.run(['logout']);
  });
});

describe('docs', () => {
  test('docs are created, listed, published, exported, archived, restored', async () => {
    const { env } = await pds.createAdmin();
    const { stdout } = await pds.run(['docs', 'create', 'Closing the till', '--version', '1.0'], { env });
    const id = stdout.trim();
    expect((await pds.run(['docs', 'list'], { env })).stdout).toMatch(
      new RegExp(`^ID +STATUS +UPDATED +VERSION +TITLE\n${id} +draft +\\S+ +1.0 +Closing the till\n$`),
    );
    expect(await pds.json(['docs', 'publish', id], { env })).toMatchObject({ id, status: 'published' });
    expect((await pds.run(['docs', 'get', id], { env })).stdout).toMatch(
      /^Closing the till\nstatus: published/,
    );

    const word = await pds.json(['docs', 'export', id], { env });
    expect(word.file).toBe(join(pds.folder, 'Closing the till.docx'));
    expect((await readFile(word.file)).subarray(0, 2).toString()).toBe('PK');
    const again = await pds.run(['docs', 'export', id], { env });
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists. Use --output')]);
    const markdown = ['docs', 'export', id, '--format', 'markdown', '--output'];
    expect((await pds.run([...markdown, '-'], { env })).stdout).toMatch(/^# Closing the till\n/);
    expect((await pds.run([...markdown, 'till.md'], { env })).code).toBe(0);
    expect(await readFile(join(pds.folder, 'till.md'), 'utf8')).toMatch(/^# Closing the till\n/);

    expect((await pds.run(['docs', 'archive', id], { env })).stdout).toBe('Archived "Closing the till".\n');
    expect(await pds.json(['docs', 'list'], { env })).toEqual([]);
    expect(await pds.json(['docs', 'list', '--status', 'archived'], { env })).toHaveLength(1);
    const { stdout: restored } = await pds.run(['docs', 'restore', id], { env });
    expect(await pds.json(['docs', 'get', restored.trim()], { env })).toMatchObject({
      ...{ title: 'Closing the till', status: 'draft', parent_doc_id: id },
    });
  });

  test('drafts are revised, compared, submitted, rejected and approved', async () => {
    const { admin, env } = await pds.createAdmin();
    const approver = await addMember(pds.app, admin.key);
    const nodes = [{ node_type: 'section', title: 'Count' }];
    const { id } = await publishDocument(pds.app, admin.key, { title: 'Till', version: '1', nodes });
    const { stdout } = await pds.run(['docs', 'revise', id], { env });
    const draft = stdout.trim();
    const changed = { title: 'Till', nodes: [{ node_type: 'section', title: 'Count twice' }] };
    await must(pds.app, 'PUT', `/documents/${draft}/nodes`, {
      as: admin.key,
      body: { nodes: changed.nodes },
    });
    expect((await pds.run(['docs', 'diff', draft], { env })).stdout).toBe(
      'Till (1) → Till (1)\n- 1 Count\n+ 1 Count twice\n1 added, 1 removed, 0 changed, 0 moved\n',
    );
    const submit = async () => {
      const args = ['approvals', 'submit', draft, '--approver', approver.userId, '--comment', 'Look.'];
      return (await pds.run(args, { env })).stdout.trim();
    };
    const first = await submit();
    const byKey = await pds.run(['approvals', 'approve', first], { env });
    expect([byKey.code, byKey.stderr]).toEqual([3, expect.stringContaining('person_required')]);
    const person = { env, input: approver.password };
    const email = ['--email', approver.email];
    expect((await pds.run(['approvals', 'reject', first, ...email], person)).code).toBe(2);
    const rejected = await pds.json(['approvals', 'reject', first, ...email, '--comment', 'No.'], person);
    expect(rejected.approvers).toMatchObject([{ decision: 'reject', comment: 'No.' }]);
    const second = await submit();
    const pending = await pds.run(['approvals', 'list', '--status', 'pending'], { env });
    expect(pending.stdout).toContain(`${second}  pending`);
    expect(pending.stdout).not.toContain(first);
    expect(await pds.json(['approvals', 'list', '--mine'], { env })).toEqual([]);
    expect((await pds.run(['approvals', 'approve', second, ...email], person)).stdout).toBe(
      'Approved: 1 of 1 have approved. The request is approved.\n',
    );
    expect(await pds.json(['approvals', 'withdraw', second], { env })).toMatchObject({ status: 'withdrawn' });
    await pds.run(['approvals', 'approve', await submit()], {
      ...person,
      env: { ...env, PDS_KEY: approver.token },
    });
    expect((await pds.run(['docs', 'publish', draft], { env })).code).toBe(0);
  });

  test('pictures are uploaded and downloaded', async () => {
    const { env } = await pds.createAdmin();
    const files = ['rgb.png', 'plain.jpg'].map((name) => join(root, 'tests/fixtures/pictures', name));
    const { stdout } = await pds.run(['assets', 'upload', ...files], { env });
    const sources = stdout.trim().split('\n');
    expect(sources).toEqual(files.map(() => expect.stringMatching(/^asset:[0-9a-f]{64}$/)));
    const [first = '', second = ''] = sources;
    const id = second.replace('asset:', '');
    const saved = await pds.json(['assets', 'download', id], { env });
    expect(saved.file).toBe(join(pds.folder, `${id.slice(0, 12)}.jpg`));
    expect((await pds.run(['assets', 'download', first, '--output', 'a.png'], { env })).code).toBe(0);
    expect((await readFile(join(pds.folder, 'a.png'))).subarray(1, 4).toString()).toBe('PNG');
    const wrong = await pds.run(['assets', 'upload', join(root, 'README.md')], { env });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('asset_invalid')]);
  });

  test('errors are explained, with exit codes for scripts', async () => {
    const { env } = await pds.createAdmin();
    const missing = '01a20c95-77f3-77bb-8eb4-65b6788708f8';
    const notFound = await pds.run(['docs', 'get', missing], { env });
    expect([notFound.code, notFound.stderr]).toEqual([
      4,
      expect.stringMatching(/not found[\s\S]*\(not_found, request /),
    ]);
    const asJson = await pds.run(['docs', 'get', missing, '--json'], { env });
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      error: { code: 'not_found', status: 404, exit_code: 4 },
    });
    const { id } = await publishDocument(pds.app, env.PDS_KEY ?? '');
    expect((await pds.run(['docs', 'publish', id], { env })).code).toBe(1);
    expect((await pds.run(['docs', 'export', id, '--template', 'none'], { env })).stderr).toContain(
      'Use default.',
    );
    expect(await pds.run(['docs', 'get'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ID is'),
    });
    const unreachable = await pds.run(['docs', 'list', '--url', 'http://127.0.0.1:9'], { env });
    expect([unreachable.code, unreachable.stderr]).toEqual([6, expect.stringContaining('Check the address')]);
  });

  test('a title cannot control the terminal', async () => {
    const { env } = await pds.createAdmin();
    await pds.run(['docs', 'create', 'red \u001B[31m\u0007'], { env });
    const { stdout } = await pds.run(['docs', 'list'], { env });
    expect(stdout).toContain('red �[31m�');
  });

  test('a reader that ends early is no error', async () => {
    const { env } = await pds.createAdmin();
    for (const title of ['A', 'B']) await pds.run(['docs', 'create', title], { env });
    const line = `'${pds.node}' '${pds.consumer.pds}' docs list; echo "exit $?" >&2`;
    const { stderr } = await start('/bin/sh', ['-c', `{ ${line}; } | true`], { env, cwd: pds.folder }).ended;
    expect(stderr).toBe('exit 0\n');
  });
});

describe('webhooks', () => {
  test('are listed and tested, and their log is shown', async () => {
    const { admin, env } = await pds.createAdmin();
    const { id } = await createWebhook(pds.app, admin.key, receiver.urlFor('listed'));
    expect((await pds.run(['webhooks', 'list'], { env })).stdout).toContain(
      `${id}  yes     Hook  ${receiver.urlFor('listed')}`,
    );
    expect(await pds.run(['webhooks', 'test', id], { env })).toMatchObject({
      code: 0,
      stdout: 'delivered: the receiver responded with 204\n',
    });
    receiver.respondWith(({ path }) => (path === '/listed' ? 500 : 204));
    expect(await pds.run(['webhooks', 'test', id], { env })).toMatchObject({
      code: 1,
      stdout: 'failed: the receiver responded with 500\n',
    });
    receiver.respondWith();
    const { stdout } = await pds.run(['webhooks', 'log', '--webhook', id, '--limit', '1'], { env });
    expect(stdout).toMatch(/RESULT\n\S+ +\S+ +webhook.test +failed +1 +status_500\n$/);
  });

  test('failed deliveries are sent again', async () => {
    const { admin, env } = await pds.createAdmin();
    // 410 fails without further attempts, and disables the webhook
    receiver.respondWith(({ path }) => (path === '/failing' ? 410 : 204));
    const { id } = await createWebhook(pds.app, admin.key, receiver.urlFor('failing'));
    await publishDocument(pds.app, admin.key);
    const [failed] = await until('the failed delivery', async () => {
      const entries = await pds.json(['webhooks', 'log', '--status', 'failed'], { env });
      return entries.length > 0 && entries;
    });
    receiver.respondWith();
    await must(pds.app, 'PATCH', `/webhooks/${id}`, { as: admin.key, body: { is_active: true } });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    expect(await pds.json(['webhooks', 'redeliver', '--webhook', id, '--since', since], { env })).toEqual({
      count: 1,
    });
    await until('the delivered event', async () => {
      const entries = await pds.json(['webhooks', 'log', '--status', 'delivered'], { env });
      return entries.length === 1;
    });
    expect((await pds.run(['webhooks', 'redeliver', failed.id], { env })).stdout).toMatch(
      /^Redelivery \S+ is pending/,
    );
    expect((await pds.run(['webhooks', 'redeliver'], { env })).code).toBe(2);
  });

  test('an interrupted program ends with 130', async () => {
    const { admin, env } = await pds.createAdmin();
    const { id } = await createWebhook(pds.app, admin.key, receiver.urlFor('slow'));
    // the redelivery of the test above may arrive meanwhile
    void receiver.hold();
    const running = pds.start(['webhooks', 'test', id], { env });
    await until('the request of the test', async () => receiver.requestsTo('slow').length > 0);
    running.stop('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130, stdout: '' });
    receiver.release();
  });
});

describe('ops', () => {
  test('organizations and users are managed through the management port', async () => {
    const env = { ...pds.env, PDS_OPS_URL: pds.app.management, OPS_TOKEN: opsToken };
    const organization = (await pds.run(['ops', 'organizations', 'create', 'Acme'], { env })).stdout.trim();
    const invitation = await pds.json(['ops', 'users', 'invite', organization, 'ada@acme.example'], { env });
    expect(invitation).toMatchObject({ email: 'ada@acme.example', role: 'admin', token: expect.any(String) });
    const plan = await pds.run(['ops', 'organizations', 'plan', organization, 'team'], { env });
    expect(plan.stdout).toBe('The plan is team.\n');
    const { admin } = await pds.createAdmin();
    expect((await pds.run(['ops', 'users', 'reset-password', admin.email], { env })).stdout).toMatch(
      /^Token: \S+\n/,
    );
    const wrong = { env: { ...env, OPS_TOKEN: 'no' } };
    const { code, stderr } = await pds.run(['ops', 'users', 'reset-password', 'x@x.example'], wrong);
    expect([code, stderr]).toEqual([3, 'Error: OPS_TOKEN is not the token of the service.\n']);
    expect((await pds.run(['ops', 'organizations', 'create', 'B'])).stderr).toContain('Set PDS_OPS_URL');
  });

  test('commands on the database run in a clone, and elsewhere say where', async () => {
    const inClone = await pds.run(['ops', 're-encrypt', '--help'], { cwd: root });
    expect(inClone.stdout).toContain('npm run admin -- re-encrypt');
    // the tool itself reports its missing setting
    const listed = await pds.run(['ops', 'dead-letters', 'list'], { cwd: join(root, 'docs') });
    expect([listed.code, listed.stderr]).toEqual([1, expect.stringContaining('AMQP_URL is required.')]);
    const elsewhere = await pds.run(['ops', 'dead-letters', 'list']);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining('npm run admin -- dead-letters list'),
    ]);
  });
});

describe('shells and runtimes', () => {
  /** The candidates that a shell finds for a line. */
  const shells = {
    bash: `source <(pds completion bash); COMP_WORDS=(pds docs list --status ''); COMP_CWORD=4; _pds; echo "\${COMPREPLY[@]}"`,
    fish: `pds completion fish | source; complete -C 'pds docs list --status ' | string replace -r '\\t.*' '' | string join ' '`,
    zsh: `autoload -Uz compinit && compinit -u -D; source <(pds completion zsh)
_describe() { print -r -- \${(P)2%%:*} }
words=(pds docs list --status ''); CURRENT=5; _pds`,
  };

  test.each(Object.entries(shells))('completion works in %s', async (name, text) => {
    const shell = await findTestProgram(name, { purpose: `completion in ${name}`, from: name });
    if (!shell) return;
    const bin = join(pds.folder, 'pds');
    await writeFile(bin, `#!/bin/sh\nexec '${pds.node}' '${pds.consumer.pds}' "$@"\n`);
    await chmod(bin, 0o755);
    const env = { ...pds.env, PATH: `${pds.folder}:${process.env.PATH}` };
    const printed = await runOrThrow(shell, ['-c', text], { env });
    expect(printed.trim().split(/\s+/).sort()).toEqual(['archived', 'draft', 'published']);
  });

  test('pds runs in Deno', async () => {
    const { env } = await pds.createAdmin();
    const args = ['run', '--allow-all', pds.consumer.pds, 'docs', 'create', 'From Deno'];
    expect(await runOrThrow(await denoBinary(), args, { env, cwd: pds.folder })).toMatch(/^[0-9a-f-]{36}\n$/);
  });
});
