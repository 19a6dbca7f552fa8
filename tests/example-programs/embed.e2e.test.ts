/** Opens examples/embed in a browser, with a real public link in its frame. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  closeServer,
  listenLocally,
  must,
  type Person,
  register,
  shareDocument,
  type TestApp,
  testApp,
  testBrowser,
} from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';

const fixture = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');

let app: TestApp;
let admin: Person;
let server: Server;
let browser: Awaited<ReturnType<typeof testBrowser>>;
let site: string;

beforeAll(async () => {
  [app, browser] = await Promise.all([testApp({ services, contracts }), testBrowser()]);
  admin = await register(app);
  const sop = JSON.parse(await fixture('../fixtures/incident-response-sop.json'));
  const { path } = await shareDocument(app, admin.key, sop);
  const page = await fixture('../../examples/embed/index.html');
  const link = 'https://docs.example.com/embed/acme/TOKEN';
  expect(page).toContain(`src="${link}?format=html"`);
  server = createServer((_, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(page.replace(link, app.origin + path)),
  );
  site = `http://127.0.0.1:${await listenLocally(server)}`;
});
afterAll(async () => {
  await browser?.close();
  if (server) await closeServer(server);
  await app?.stop();
});

/** Opens the page. Returns whether the frame shows the SOP, and how the page looks. */
async function openPage(options: { colorScheme?: 'light' | 'dark'; width?: number } = {}) {
  const page = await browser.newPage({
    colorScheme: options.colorScheme ?? 'light',
    viewport: { width: options.width ?? 1280, height: 800 },
  });
  try {
    await page.goto(site, { waitUntil: 'networkidle' });
    const [frame] = page.frames().filter((one) => one !== page.mainFrame());
    const isShown = await frame
      ?.getByRole('heading', { name: 'Payment system incident response' })
      .isVisible()
      .catch(() => false);
    const getBackground = 'getComputedStyle(document.documentElement).backgroundColor';
    return {
      isShown,
      background: await frame?.evaluate<string>(getBackground),
      hasSidewaysScroll: await page.evaluate('document.documentElement.scrollWidth > innerWidth'),
    };
  } finally {
    await page.close();
  }
}

test('the frame of the example shows the SOP on screens and phones', async () => {
  for (const width of [1280, 390])
    expect([width, await openPage({ width })]).toMatchObject([
      width,
      { isShown: true, hasSidewaysScroll: false },
    ]);
});

test('the frame of the example follows the dark mode of the reader', async () => {
  const [light, dark] = [await openPage(), await openPage({ colorScheme: 'dark' })];
  expect(dark.isShown).toBe(true);
  expect(dark.background).not.toBe(light.background);
});

test('the frame of the example is empty on sites that are not allowed', async () => {
  const restrict = (embed_origins: string[] | null) =>
    must(app, 'PATCH', '/organization', { as: admin.key, body: { settings: { embed_origins } } });
  await restrict(['https://intranet.example']);
  expect((await openPage()).isShown).not.toBe(true);
  await restrict([site]);
  expect((await openPage()).isShown).toBe(true);
});
