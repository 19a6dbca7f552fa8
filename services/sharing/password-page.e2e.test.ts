/** Tests of the page that asks for the password of a link, in a real browser: framed, on a phone and in the dark. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Frame, Page } from 'playwright-core';
import { listenLocally, must, shareDocument } from '#libs/testing';
import { findViolations, type PageFixture, pageFixture, recordSideEffects } from './testing/page-fixture.ts';

const password = 'Zürich liegt am See';
let fixture: PageFixture;
let link: string;
const servers: Server[] = [];

beforeAll(async () => {
  fixture = await pageFixture();
  link = await share({ password });
}, 180_000);
afterAll(async () => {
  for (const server of servers) server.close();
  await fixture?.stop();
});

/** Shares a document with a section at `#1`, and sets the controls of its link. */
async function share(controls: object): Promise<string> {
  const { app, ada } = fixture;
  const nodes = [{ node_type: 'section', title: 'Open the vault' }];
  const { id, path } = await shareDocument(app, ada.key, { title: 'Vault', nodes });
  await must(app, 'PATCH', `/documents/${id}/share-token`, { as: ada.key, body: controls });
  return app.origin + path;
}

/** Serves a page of another site that frames a link; `localhost` and `127.0.0.1` are two sites. */
async function serveFrame(src: string, sandbox?: string): Promise<string> {
  const server = createServer((_request, response) => {
    const attribute = sandbox === undefined ? '' : ` sandbox="${sandbox}"`;
    const frame = `<iframe src="${src}" title="SOP" width="600" height="500"${attribute}></iframe>`;
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Intranet</title>${frame}`);
  });
  servers.push(server);
  return `http://localhost:${await listenLocally(server)}`;
}

const enter = async (target: Page | Frame, text: string) => {
  await target.getByLabel('Password').fill(text);
  await target.getByRole('button', { name: 'Open the document' }).click();
};

test('a reader enters the password and is at the part of the link', () =>
  fixture.withPage({}, async (page) => {
    const sideEffects = recordSideEffects(page);
    const response = await page.goto(`${link}?format=html#1`);
    expect(response?.status()).toBe(401);
    await enter(page, password);
    await page.getByRole('heading', { level: 1, name: 'Vault' }).waitFor();
    expect(page.url()).toBe(`${link}?format=html#1`);
    expect((await page.reload())?.status()).toBe(200);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({
      httpOnly: true,
      secure: true,
      sameSite: 'None',
      path: new URL(link).pathname,
    });
    // the browser writes each 401, and its advice on forms, to its console
    expect(sideEffects.filter((effect) => !/^console: .*(401|Password forms)/.test(effect))).toEqual([]);
  }));

test('a wrong password brings the page again, with an alert', () =>
  fixture.withPage({}, async (page) => {
    await page.goto(link);
    await enter(page, 'a wrong password');
    const field = page.getByLabel('Password');
    expect(await page.getByRole('alert').textContent()).toMatch(/^This password is wrong/);
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.inputValue()).toBe('');
    await enter(page, password);
    await page.getByRole('heading', { level: 1, name: 'Vault' }).waitFor();
  }));

test('the field is required and has a name, and there is no script', () =>
  fixture.withPage({}, async (page) => {
    await page.goto(link);
    await page.getByRole('button').click();
    expect(await page.evaluate('document.querySelector("input").validity.valueMissing')).toBe(true);
    expect(await page.locator('input').getAttribute('autocomplete')).toBe('current-password');
    expect(await page.locator('script').count()).toBe(0);
  }));

describe('in a frame of another site', () => {
  test.each([
    ['without a sandbox', undefined],
    ['with a sandbox that allows forms', 'allow-forms allow-popups allow-popups-to-escape-sandbox'],
  ])('%s, the password opens the document', async (_name, sandbox) => {
    const intranet = await serveFrame(`${link}?format=html`, sandbox);
    await fixture.withPage({}, async (page) => {
      await page.goto(intranet);
      const frame = page.frames()[1];
      if (!frame) throw new Error('There is no frame');
      await enter(frame, password);
      await frame.getByRole('heading', { level: 1, name: 'Vault' }).waitFor();
      // the cookie belongs to this site only
      const [cookie] = await page.context().cookies();
      expect(cookie?.partitionKey).toBe('http://localhost');
      await page.reload();
      await page.frames()[1]?.getByRole('heading', { level: 1, name: 'Vault' }).waitFor();
      expect((await page.goto(link))?.status()).toBe(401);
    });
  });

  test('the page is blocked unless the link allows the site', async () => {
    const own = await share({ password, allowed_origins: ['https://intranet.example'] });
    const intranet = await serveFrame(`${own}?format=html`);
    await fixture.withPage({}, async (page) => {
      const blocked = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
      await page.goto(intranet);
      await blocked;
      expect(await page.frames()[1]?.locator('input').count()).toBe(0);
    });
  });
});

describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
  test.each([320, 1280])('%i pixels wide, axe finds nothing and nothing is cut', (width) =>
    fixture.withPage({ colorScheme, viewport: { width, height: 640 } }, async (page) => {
      await page.goto(link);
      await enter(page, 'a wrong password');
      await page.getByRole('alert').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      for (const control of [page.getByLabel('Password'), page.getByRole('button')])
        expect((await control.boundingBox())?.height).toBeGreaterThanOrEqual(44);
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/password-${colorScheme}-${width}.png` });
      expect(await findViolations(page)).toEqual([]);
    }),
  );
});
