/** Tests the built Python client as its users have it: installed in a virtual environment, with a running service. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  findTestProgram,
  register,
  type TestApp,
  testApp,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { installPythonTools, type PythonTools } from '../../tools/python-client/install.ts';
import { runOrThrow } from '../typescript-client/programs.ts';
import { createVirtualEnvironment, type VirtualEnvironment } from './virtual-environment.ts';

const root = join(import.meta.dirname, '../..');
const settings = join(root, 'clients/python/pyproject.toml');
const testFolders = [join(root, 'clients/python/tests'), join(root, 'tests/python-client')];
const timeoutMs = 300_000;

let app: TestApp;
let receiver: WebhookReceiver;
let tools: PythonTools;
let installed: VirtualEnvironment | undefined;

beforeAll(async () => {
  [app, receiver] = await Promise.all([testApp({ services, contracts }), webhookReceiver()]);
  const python = await findTestProgram('python3', { from: 'python3-pip', purpose: 'The Python client' });
  if (!python) return;
  tools = await installPythonTools((line) => void process.stderr.write(`${line}\n`));
  installed = await createVirtualEnvironment(tools);
}, timeoutMs);
afterAll(async () => {
  await Promise.all([app?.stop(), receiver?.close(), installed?.remove()]);
});

/** Runs the installed Python, which leaves no compiled files behind, in the folder of the environment. */
function run(
  { python, folder }: VirtualEnvironment,
  args: readonly string[],
  env: object = {},
): Promise<string> {
  return runOrThrow(python, args, {
    cwd: folder,
    env: { PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1', ...env },
  });
}

test(
  'the tests of the Python client pass with a running service',
  async () => {
    if (!installed) return;
    const env = { PDS_URL: app.origin, PDS_RECEIVER: receiver.url };
    const printed = await run(
      installed,
      ['-m', 'pytest', '-p', 'no:cacheprovider', '-c', settings, ...testFolders],
      env,
    );
    expect(printed).toMatch(/=+ [1-9]\d\d passed in /);
    expect(printed).not.toMatch(/skipped|deselected|xfailed/);
  },
  timeoutMs,
);

test(
  'the types of the Python client are valid and complete',
  async () => {
    if (!installed) return;
    const cache = ['--cache-dir', join(installed.folder, 'mypy')];
    const flags = ['--config-file', settings, ...cache, '--python-executable', installed.python];
    const check = (args: readonly string[]) =>
      runOrThrow('python3', ['-m', 'mypy', ...flags, ...args], {
        cwd: installed?.folder ?? '',
        env: { ...tools.environment, MYPYPATH: join(root, 'clients/python/tests') },
      });
    await check(['-p', 'process_document_service']);
    for (const folder of testFolders) await check([folder]);
    const wrong = join(installed.folder, 'wrong.py');
    await writeFile(wrong, wrongCalls.join('\n'));
    const error = await check([wrong]).then(String, String);
    const lines = [...error.matchAll(/wrong\.py:(\d+): error/g)].map(([, line]) => Number(line));
    expect([...new Set(lines)]).toEqual(
      wrongCalls.flatMap((call, at) => (call.startsWith('client.') ? [at + 1] : [])),
    );
  },
  timeoutMs,
);

/** Each call has one mistake that the types show. */
const wrongCalls = [
  'from process_document_service import Client',
  'client = Client("https://sop.example.com")',
  'client.get_document()',
  'client.create_document(body={"name": "x"})',
  'client.create_document(body={"title": 1})',
  'client.list_documents(status=["hidden"])',
  'client.get_document("x")["name"]',
  'client.get_document("x", if_match="y")',
  'client.with_response.get_document("x", if_none_match="y").data["title"]',
  'client.iterate.get_document("x")',
];

test(
  'the code of the README of the Python client is valid and works',
  async () => {
    if (!installed) return;
    const { key } = await register(app);
    const program = join(installed.folder, 'readme.py');
    await cp(
      join(root, 'tests/fixtures/corporate-template.docx'),
      join(installed.folder, 'corporate-template.docx'),
    );
    await writeFile(program, await createReadmeProgram({ url: app.origin, key }));
    const flags = ['--config-file', settings, '--cache-dir', join(installed.folder, 'mypy')];
    const checker = ['-m', 'mypy', ...flags, '--python-executable', installed.python, program];
    await runOrThrow('python3', checker, { cwd: installed.folder, env: { ...tools.environment } });
    const printed = await run(installed, ['-W', 'error', program]);
    expect(printed).toContain('Closing the till\n');
    expect(printed).toContain('body/title A title is required\n');
    expect(printed).toContain('Closing the till (2)\nClosing the till (2).docx Closing the till (2).docx\n');
    expect(printed).toMatch(/From a webhook\n$/);
  },
  timeoutMs,
);

/** The code blocks of the README as one program, after a prelude with what they take from the reader. */
async function createReadmeProgram({ url, key }: { url: string; key: string }): Promise<string> {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const data = { document: { title: 'From a webhook' } };
  const body = JSON.stringify({ id: 'e', event_type: 'document.published', data });
  const now = new Date();
  const headers = {
    'Webhook-Id': 'e',
    'Webhook-Timestamp': String(Math.floor(now.getTime() / 1_000)),
    'Webhook-Signature': new Webhook(secret).sign('e', now, body),
  };
  const prelude = `class Request:
    headers = ${JSON.stringify(headers)}
    body = ${JSON.stringify(body)}.encode()

request = Request()
secret = ${JSON.stringify(secret)}`;
  const readme = await readFile(join(root, 'clients/python/README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const program = blocks.join('\n').replace('https://sop.example.com', url).replace('pds_…', key);
  return `${prelude}\n${program}\nclient.close()\n`;
}
