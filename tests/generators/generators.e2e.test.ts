/**
 * Tests that clients which three generators make from the API reference upload a template, export a Word file and
 * create a webhook.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must, type Person, publishDocument, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { installOpenApiTools, installPythonGenerator, offline } from '../../tools/openapi/install.ts';

const clients = new URL('./clients/', import.meta.url);
const reference = fileURLToPath(new URL('../../docs/contracts/openapi.json', import.meta.url));
const template = fileURLToPath(new URL('../fixtures/corporate-template.docx', import.meta.url));
const hookUrl = 'http://127.0.0.1:9/hook';
const say = (line: string) => void process.stderr.write(`${line}\n`);

let app: TestApp;
let ada: Person;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  [app, folder] = await Promise.all([
    testApp({ services, contracts }),
    mkdtemp(join(tmpdir(), 'pds-generators-')),
  ]);
  ada = await register(app);
  const { id } = await publishDocument(app, ada.key);
  environment = { BASE: app.origin, KEY: ada.key, DOC_ID: id, TEMPLATE: template, HOOK_URL: hookUrl };
});
afterAll(async () => {
  await app?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

test('openapi-typescript: the client compiles and works', async () => {
  const { run, runClient, modules } = await prepareNode('openapi-typescript');
  await copyFile(new URL('openapi-typescript-generate.mjs', clients), join(modules, '..', 'generate.mjs'));
  await run(['generate.mjs', reference]);
  await checkResult(await runClient());
});

test('Hey API: the client compiles and works', async () => {
  const { run, runClient, modules } = await prepareNode('hey-api');
  await copyFile(new URL('hey-api-config.ts', clients), join(modules, '..', 'openapi-ts.config.ts'));
  await run([join(modules, '.bin', 'openapi-ts')]);
  await checkResult(await runClient());
});

test('openapi-python-client: the client works and has few files', async () => {
  const python = await installPythonGenerator(say);
  const cwd = join(folder, 'python');
  await mkdir(cwd);
  const config = fileURLToPath(new URL('openapi-python-client.yaml', clients));
  const args = ['generate', '--path', reference, '--output-path', join(cwd, 'generated'), '--meta', 'none'];
  const generator = ['-m', 'openapi_python_client', ...args, '--config', config];
  const { stdout } = await execute('python3', generator, cwd, python);
  // it only warns about what it leaves out
  expect(stdout).not.toMatch(/WARNING|will be omitted|Skipping/);
  const models = await readdir(join(cwd, 'generated', 'models'));
  // about one for each schema: inline objects without a name would add many
  const { components } = JSON.parse(await readFile(reference, 'utf8'));
  const schemas = Object.keys(components.schemas).length;
  expect(models.length).toBeGreaterThan(0.7 * schemas);
  expect(models.length).toBeLessThan(1.45 * schemas);
  await copyFile(new URL('openapi_python_client.py', clients), join(cwd, 'client.py'));
  await checkResult((await execute('python3', ['client.py'], cwd, python)).stdout);
});

/** Creates a folder in which the npm tools are installed, with the program of a client. */
async function prepareNode(name: string) {
  const cwd = join(folder, name);
  await mkdir(cwd);
  const modules = join(cwd, 'node_modules');
  await symlink(await installOpenApiTools(say), modules);
  await copyFile(new URL(`${name}.ts`, clients), join(cwd, 'client.ts'));
  await writeFile(join(cwd, 'package.json'), '{ "type": "module" }');
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
    ...{ target: 'es2024', module: 'nodenext', lib: ['es2024', 'dom', 'dom.iterable'], types: ['node'] },
  };
  await writeFile(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['client.ts'] }));
  const run = async (args: readonly string[]) => (await execute(process.execPath, args, cwd)).stdout;
  return {
    modules,
    run,
    /** Checks the types of the client and of what it imports, then runs it. */
    async runClient() {
      await run([join(modules, '.bin', 'tsc'), '--project', '.']);
      return run(['--disable-warning=ExperimentalWarning', 'client.ts']);
    },
  };
}

async function execute(file: string, args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  // the compiler would leave its cache in the temporary folder
  const settings = { ...offline, NODE_DISABLE_COMPILE_CACHE: '1', OPENAPI: reference };
  const all = { ...process.env, ...settings, ...environment, ...env };
  const options = { cwd, env: all, maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)(file, args, options).catch((error) => {
    throw new Error(`${[file, ...args].join(' ')}: ${error.stdout}${error.stderr}`);
  });
}

/** Expects that the service has what the client says it has created. */
async function checkResult(stdout: string): Promise<void> {
  const { template: uploaded, word, webhook, secret } = JSON.parse(stdout);
  const get = (path: string) => must(app, 'GET', path, { as: ada.key });
  expect((await get('/templates')).map(({ id }: { id: string }) => id)).toContain(uploaded.id);
  expect(uploaded.indent_inches).toBe(0.75);
  const query = `template_id=${uploaded.id}`;
  const file = await app.request('GET', `/documents/${environment.DOC_ID}/export/word?${query}`, {
    as: ada.key,
  });
  expect(Buffer.from(word, 'base64').subarray(0, 2).toString()).toBe('PK');
  expect(Buffer.from(word, 'base64').length).toBe(file.bytes.length);
  expect(await get(`/webhooks/${webhook}`)).toMatchObject({ url: hookUrl });
  expect(secret).toMatch(/^whsec_/);
}
