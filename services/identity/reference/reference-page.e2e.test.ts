/** Tests the reference page in a browser: contents, search, dark mode, the key of the tab, samples, try-it-out. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { must, type Person, register, type TestApp, testApp, testBrowser, until } from '#libs/testing';
import { installSchemathesis } from '../../../tools/schemathesis/install.ts';
import { contracts } from '../../contracts.ts';
import { operationGroups } from '../../operation-groups.ts';
import { services } from '../../testing/services.ts';

let app: TestApp;
let browser: Browser;
let context: BrowserContext;
let ada: Person;
/** What a page must not do: messages on the console and requests to other hosts. */
let faults: string[];

beforeAll(async () => {
  [app, browser] = await Promise.all([testApp({ services, contracts }), testBrowser()]);
  ada = await register(app);
  context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function open(hash = '', within = context): Promise<Page> {
  const page = await within.newPage();
  faults = [];
  page.on('console', (message) => faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(app.origin) && !request.url().startsWith('data:'))
      faults.push(request.url());
  });
  await page.goto(`${app.origin}/api/v1/docs${hash}`);
  return page;
}

const operation = '#/Documents/createDocument';
const toMs = (time: unknown) => `${Math.round(Number(time))} ms`;

test('files are compressed for browsers and not sent twice', async () => {
  for (const path of ['/docs', '/openapi.json', '/docs/swagger-ui-bundle.js', '/docs/start.js']) {
    const url = `${app.origin}/api/v1${path}`;
    const [gzipped, plain] = await Promise.all(
      ['gzip', 'identity'].map((encoding) => fetch(url, { headers: { 'accept-encoding': encoding } })),
    );
    expect([gzipped?.headers.get('content-encoding'), plain?.headers.get('content-encoding')]).toEqual([
      'gzip',
      null,
    ]);
    expect(await gzipped?.text()).toBe(await plain?.text());
    const etags = [gzipped, plain].map((response) => response?.headers.get('etag') ?? '');
    expect(new Set(etags).size).toBe(2);
    for (const [index, encoding] of ['gzip', 'identity'].entries()) {
      const headers = { 'accept-encoding': encoding, 'if-none-match': etags[index] ?? '' };
      expect((await fetch(url, { headers })).status).toBe(304);
    }
  }
});

test('the first response contains every operation, without scripts', async () => {
  const { bytes, headers } = await app.request('GET', '/docs');
  const text = new TextDecoder().decode(bytes);
  for (const { operations } of contracts) for (const { id } of operations) expect(text).toContain(`/${id}"`);
  const policy = headers.get('content-security-policy');
  expect(policy).toContain("script-src 'self'; style-src 'self';");
  expect(policy).not.toContain('unsafe');
});

test('the page loads without violations and other hosts', async () => {
  const page = await open();
  await page.locator('.opblock-tag').first().waitFor();
  const paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
  const [listed, ready] = [await page.evaluate(paint), await page.evaluate('performance.now()')];
  process.stderr.write(
    `Operations are listed after ${toMs(listed)}, Swagger UI shows them after ${toMs(ready)}.\n`,
  );
  const tags = await page.locator('.opblock-tag').allTextContents();
  expect(tags[0]).toMatch(/^Start here/);
  expect(tags).toHaveLength(operationGroups.length);
  await page.locator('#contents a', { hasText: 'Create a draft, empty' }).click();
  await page.locator('.samples').waitFor();
  expect(await page.locator('.errors-wrapper').count()).toBe(0);
  await page.locator('.try-out__btn').click();
  await page.locator('.execute').waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test('the search hides operations that do not have all words', async () => {
  const page = await open();
  await page.locator('.opblock-tag').first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('word file');
  const shown = page.locator('#contents li:visible');
  expect(await shown.allTextContents()).toEqual(['GET Export a document as a Word file']);
  await page.locator('#search').fill('nothing like this');
  expect(await page.locator('#no-match').isVisible()).toBe(true);
  await page.locator('#search').fill('public link');
  await page.getByText('Create a public link to a published document').first().click();
  await page.locator('#operations-Sharing-createShareToken .samples').waitFor();
  await page.close();
});

describe.each(['light', 'dark'] as const)('with a system that is %s', (colorScheme) => {
  test('the page is so, and the button changes it', async () => {
    const own = await browser.newContext({ colorScheme });
    const page = await open('', own);
    await page.locator('.opblock-tag').first().waitFor();
    const isDark = () => page.evaluate("document.documentElement.classList.contains('dark-mode')");
    expect(await isDark()).toBe(colorScheme === 'dark');
    await page.locator('#theme').click();
    expect(await isDark()).toBe(colorScheme === 'light');
    await page.reload();
    expect(await isDark()).toBe(colorScheme === 'light');
    await own.close();
  });

  test.each([320, 768])('the page at %i px does not scroll sideways', async (width) => {
    const own = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
    const page = await open(operation, own);
    await page.locator('.samples').waitFor();
    // fonts are wider on some systems
    await page.evaluate("document.documentElement.style.letterSpacing = '2px'");
    const fits = async () => (await page.evaluate('document.documentElement.scrollWidth')) === width;
    // while the operation is opened, the width changes
    await until('the width of the page', async () => (await fits()) && pause(500).then(fits));
    await own.close();
  });

  test('its frame is accessible', async () => {
    const own = await browser.newContext({ colorScheme });
    const page = await open('', own);
    await page.locator('.opblock-tag').first().waitFor();
    await page.evaluate(
      await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
    );
    const run = `axe.run({ include: [['#bar'], ['#contents']] }).then((r) => r.violations.map((v) => v.id))`;
    expect(await page.evaluate(run)).toEqual([]);
    await own.close();
  });
});

test('a link to an operation scrolls to its title', async () => {
  const page = await open(operation);
  const title = page.locator('#operations-Documents-createDocument .opblock-summary');
  await page.locator('.samples').waitFor();
  await until('the scroll position', async () => {
    const { y = -1 } = (await title.boundingBox()) ?? {};
    return y >= 0 && y < 100;
  });
  await page.close();
});

test('the key is kept for the tab, sent with requests and forgotten', async () => {
  const page = await open('#/Start%20here/getMe');
  await page.locator('.samples').waitFor();
  await page.locator('.auth-wrapper .authorize').first().click();
  // the dialog also asks for the password of a public link
  await page.locator('#auth-bearer-value').fill(ada.key);
  await page.locator('.modal-ux button[type=submit]').first().click();
  await page.locator('.modal-ux .btn-done').first().click();
  await page.reload();
  await page.locator('.samples').waitFor();
  await page.locator('.try-out__btn').click();
  await page.locator('.execute').click();
  await page.locator('.live-responses-table').waitFor();
  expect(await page.locator('.live-responses-table').textContent()).toContain(ada.organizationId);
  expect(await page.evaluate('localStorage.length')).toBe(0);
  const other = await open('#/Start%20here/getMe');
  expect(await other.evaluate('sessionStorage.length')).toBe(0);
  await page.locator('.auth-wrapper .authorize').first().click();
  await page.locator('.modal-ux button', { hasText: 'Logout' }).click();
  expect(await page.evaluate("sessionStorage.getItem('pds.reference.key')")).toBe(null);
  await other.close();
  await page.close();
});

test('the shown samples in curl, TypeScript and Python work', async () => {
  const page = await open(operation);
  await page.locator('.samples').waitFor();
  const texts: string[] = [];
  for (const name of ['curl', 'TypeScript', 'Python']) {
    await page.getByRole('tab', { name }).click();
    texts.push((await page.locator('.samples pre').textContent()) ?? '');
  }
  await page.close();
  const folder = await mkdtemp(join(tmpdir(), 'pds-samples-'));
  try {
    const [curl = '', typescript = '', python = ''] = texts;
    await writeFile(join(folder, 'sample.ts'), typescript);
    await writeFile(join(folder, 'sample.py'), python);
    // it contains the package requests
    const { environment } = await installSchemathesis((line) => void process.stderr.write(`${line}\n`));
    const options = { cwd: folder, env: { ...process.env, ...environment, KEY: ada.key } };
    const run = promisify(execFile);
    const outputs = await Promise.all([
      run('bash', ['-c', `${curl} --fail`], options),
      run(process.execPath, ['--input-type=module-typescript', '--eval', typescript], options),
      run('python3', ['sample.py'], options),
    ]);
    for (const { stdout } of outputs) expect(stdout).toContain('Closing the till');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const created = await must(app, 'GET', '/documents?limit=10', { as: ada.key });
  expect(created.map(({ title }: { title: string }) => title)).toEqual(Array(3).fill('Closing the till'));
});
