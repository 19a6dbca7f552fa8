/** Tests the packed client as its users have it: installed in another project, in Node, Deno and a browser. */
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  closeServer,
  listenLocally,
  register,
  type TestApp,
  testApp,
  testBrowser,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { denoBinary } from '../../scripts/deno-binary.ts';
import { about } from '../../services/about.ts';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { type Consumer, createConsumer, readManifest, runReadme } from './consumer.ts';
import { findOtherNode, runOrThrow } from './programs.ts';
import type { runStory, StoryInput } from './story.ts';
import { createStoryServer } from './story-page.ts';

type Story = Awaited<ReturnType<typeof runStory>>;

let app: TestApp;
let consumer: Consumer;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [app, consumer, receiver] = await Promise.all([
    testApp({ services, contracts }),
    createConsumer(),
    webhookReceiver(),
  ]);
  const program = `import { runStory } from './story.js';
import { readFileSync } from 'node:fs';
console.log(JSON.stringify(await runStory(JSON.parse(readFileSync('input.json', 'utf8')))));
`;
  await writeFile(join(consumer.folder, 'main.js'), program);
});
afterAll(async () => {
  await Promise.all([app?.stop(), consumer?.remove(), receiver?.close()]);
});

const fixture = (path: string) => readFileSync(new URL(path, import.meta.url));

/** The input of the program, with a new organization. */
async function createInput(): Promise<StoryInput> {
  const [vector] = JSON.parse(fixture('../../docs/webhook-test-vectors.json').toString()).vectors;
  const headers = Object.entries<string>(vector.headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    url: app.origin,
    key: (await register(app)).key,
    template: [...fixture('../fixtures/corporate-template.docx')],
    receiver: receiver.url,
    signed: {
      secret: vector.secrets[0],
      headers: Object.fromEntries(headers),
      body: vector.body,
      now: vector.webhook_timestamp * 1_000,
    },
  };
}

const expected: Story = {
  isReplayed: [false, true, true],
  stale: { status: 412, code: 'precondition_failed', hasRequestId: true },
  isCurrent: true,
  invalid: { code: 'invalid_request', errors: [{ path: 'body/title', message: 'A title is required' }] },
  titles: ['Opening the shop', 'Second', 'Third'],
  pageSizes: [2, 1],
  shared: { title: 'Opening the shop', version: '2', nodes: ['Morning'] },
  picture: { isNamed: true, type: 'image/gif', start: [71, 73, 70], extension: '.gif' },
  word: { name: 'Opening the shop.docx', start: [80, 75], indent: 0.7 },
  markdown: {
    name: 'Opening the shop.md',
    text: expect.stringContaining('## Morning\n\n### Unlock') as unknown as string,
  },
  webhook: ['delivered', 'whsec_', 'document.published', 'wrong_signature'],
};

/** Runs the program in the project, with a runtime. */
async function run(file: string, flags: readonly string[] = []): Promise<Story> {
  await writeFile(join(consumer.folder, 'input.json'), JSON.stringify(await createInput()));
  return JSON.parse(await runOrThrow(file, [...flags, 'main.js'], { cwd: consumer.folder }));
}

test('the installed client works in Node', async () => {
  expect(await run(process.execPath)).toEqual(expected);
});

test('the installed client works in the oldest supported Node', async () => {
  const other = findOtherNode();
  const version = other === undefined ? 'none' : (await runOrThrow(other, ['--version'])).trim();
  if (other === undefined || !version.startsWith('v20.')) {
    process.stderr.write(
      `NOT TESTED: the client in Node 20, because the Node of this machine is ${version}.\n`,
    );
    return;
  }
  expect(await run(other)).toEqual(expected);
});

test('the installed client works in Deno, and its types are valid there', async () => {
  const deno = await denoBinary();
  await runOrThrow(deno, ['check', '--quiet', 'story.ts'], { cwd: consumer.folder });
  expect(await run(deno, ['run', '--no-prompt', '--allow-net=127.0.0.1', '--allow-read=.'])).toEqual(
    expected,
  );
});

test('the modules of the client work in a browser without a bundler', async () => {
  const server = createStoryServer({
    modules: consumer.modules,
    story: join(consumer.folder, 'story.js'),
    api: app.origin,
  });
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  const browser = await testBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(url);
    const result = await page.evaluate(async ([input, path]) => (await import(path)).runStory(input), [
      { ...(await createInput()), url },
      '/story.js',
    ] as const);
    expect(result).toEqual(expected);
  } finally {
    await browser.close();
    await closeServer(server);
  }
});

test('the code of the README compiles and works', async () => {
  const { key, signed, template } = await createInput();
  const event = {
    id: 'e',
    event_type: 'document.published',
    data: { document: { title: 'From a webhook' } },
  };
  const body = JSON.stringify(event);
  const secret = signed.secret as string;
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = {
    'webhook-id': 'e',
    'webhook-timestamp': timestamp,
    'webhook-signature': new Webhook(secret).sign('e', new Date(Number(timestamp) * 1_000), body),
  };
  const prelude = `const bytes = new Uint8Array(${JSON.stringify(template)});
const secret = ${JSON.stringify(secret)};
const request = new Request('https://wiki.example.com/hooks', ${JSON.stringify({ method: 'POST', body, headers })});`;
  const printed = await runReadme(consumer, { url: app.origin, key, prelude });
  expect(printed).toContain('Closing the till\n');
  expect(printed).toContain('body/title A title is required\n');
  expect(printed).toContain('Closing the till (2)\nClosing the till (2).docx ');
  expect(printed).toMatch(/From a webhook\n$/);
});

test('the package needs no other package, and has the version of the API', async () => {
  const manifest = await readManifest();
  expect(manifest.version).toBe(about.version);
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
  const readme = await readFile(join(consumer.modules, '../README.md'), 'utf8');
  expect(readme).toContain('# TypeScript client');
});
