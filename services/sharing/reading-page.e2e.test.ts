/** Tests of the page of a personal link in a real browser: on a phone, on paper, in the dark and in a frame. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { listenLocally, must } from '#libs/testing';
import {
  findViolations,
  type PageFixture,
  pageFixture,
  recordSideEffects,
  sop,
} from './testing/page-fixture.ts';

let fixture: PageFixture;
let requestId: string;
let documentId: string;
const servers: Server[] = [];

beforeAll(async () => {
  fixture = await pageFixture();
  const { app, ada } = fixture;
  const settings = { lock_published: true };
  await must(app, 'PATCH', '/organization', { as: ada.token, body: { settings } });
  const { id } = await must(app, 'POST', '/documents', { as: ada.key, body: sop });
  await must(app, 'POST', `/documents/${id}/publish`, { as: ada.key });
  const body = { document_id: id };
  const request = await must(app, 'POST', '/acknowledgement-requests', { as: ada.key, body });
  [documentId, requestId] = [id, request.id];
}, 180_000);
afterAll(async () => {
  for (const server of servers) server.close();
  await fixture?.stop();
});

let readers = 0;

/** Adds a reader and returns the address of the page. */
async function addReader(name = 'Grace Hopper'): Promise<string> {
  const { app, ada } = fixture;
  readers += 1;
  const body = { readers: [{ external_id: `E ${readers}`, name }] };
  const path = `/acknowledgement-requests/${requestId}/readers`;
  const [{ url }] = await must(app, 'POST', path, { as: ada.key, body });
  return `${app.origin}${new URL(url).pathname}?format=html`;
}

const button = (page: Page) => page.getByRole('button', { name: 'Confirm' });

async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/reading-${name}.png`, fullPage: true });
}

test('a reader follows the link at the top, confirms and sees the date', async () => {
  const url = await addReader();
  await fixture.withPage({ viewport: { width: 360, height: 740 } }, async (page) => {
    const sideEffects = recordSideEffects(page);
    await page.goto(url);
    await page.getByRole('link', { name: 'Please read, then confirm at the end' }).click();
    const bottom = 'document.querySelector(".acknowledgement button").getBoundingClientRect().bottom';
    expect(await page.evaluate(`${bottom} <= innerHeight`)).toBe(true);
    await button(page).click();
    const region = page.getByRole('region', { name: 'Confirmation' });
    await region.getByText('Confirmed on').waitFor();
    expect(page.url()).toBe(`${url}#acknowledgement`);
    expect(await button(page).count()).toBe(0);
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.locator('script').count()).toBe(0);
    expect(sideEffects).toEqual([]);
    await takeScreenshot(page, 'confirmed');
    await page.reload();
    expect(await page.getByText('Confirmed on').count()).toBe(2);
  });
});

test('names with line breaks, overrides and markup do not change the page', async () => {
  const url = await addReader('\u202eevil\n<b>name</b> =1+1');
  await fixture.withPage({}, async (page) => {
    await page.goto(url);
    const name = page.locator('.acknowledgement bdi');
    expect(await name.textContent()).toBe('\u202eevil\n<b>name</b> =1+1');
    expect(await page.locator('.acknowledgement b').count()).toBe(0);
    // the override ends with the name
    expect(await page.getByRole('heading', { name: 'Confirmation' }).count()).toBe(1);
    await takeScreenshot(page, 'override');
  });
});

test('a new version is shown after a confirmation that came too late', async () => {
  const { app, ada } = fixture;
  const { id } = await must(app, 'POST', '/documents', {
    as: ada.key,
    body: { title: 'Vault', version: '1' },
  });
  await must(app, 'POST', `/documents/${id}/publish`, { as: ada.key });
  const body = { document_id: id };
  const request = await must(app, 'POST', '/acknowledgement-requests', { as: ada.key, body });
  const path = `/acknowledgement-requests/${request.id}/readers`;
  const readers = [{ external_id: 'E 1', name: 'Grace Hopper' }];
  const [{ url }] = await must(app, 'POST', path, { as: ada.key, body: { readers } });
  await fixture.withPage({ viewport: { width: 360, height: 740 } }, async (page) => {
    await page.goto(`${app.origin}${new URL(url).pathname}?format=html`);
    const draft = await must(app, 'POST', `/documents/${id}/revise`, { as: ada.key });
    const fields = { title: 'New vault', version: '2' };
    await must(app, 'PATCH', `/documents/${draft.id}`, { as: ada.key, body: fields });
    await must(app, 'POST', `/documents/${draft.id}/publish`, { as: ada.key });
    await button(page).click();
    await page.getByRole('heading', { name: 'The document has changed' }).waitFor();
    await takeScreenshot(page, 'changed');
    await page.getByRole('link', { name: 'Open the document again' }).click();
    await page.getByRole('heading', { level: 1, name: 'New vault' }).waitFor();
    await button(page).click();
    await page.getByText('Confirmed on').first().waitFor();
  });
});

describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
  test.each([320, 1280])('%i pixels wide, axe finds nothing and nothing is cut', async (width) => {
    const url = await addReader();
    await fixture.withPage({ colorScheme, viewport: { width, height: 740 } }, async (page) => {
      await page.goto(url);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect((await button(page).boundingBox())?.height).toBeGreaterThanOrEqual(44);
      await takeScreenshot(page, `${colorScheme}-${width}`);
      expect(await findViolations(page)).toEqual([]);
      await button(page).click();
      await page.getByText('Confirmed on').first().waitFor();
      expect(await findViolations(page)).toEqual([]);
    });
  });
});

test('on paper, the name and the date remain, without the button', async () => {
  const url = await addReader();
  await fixture.withPage({}, async (page) => {
    await page.goto(url);
    await page.emulateMedia({ media: 'print' });
    expect(await button(page).isVisible()).toBe(false);
    expect(await page.locator('.acknowledgement bdi').isVisible()).toBe(true);
    await takeScreenshot(page, 'print');
    await page.emulateMedia({ media: 'screen' });
    await button(page).click();
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.acknowledgement .done').isVisible()).toBe(true);
    if (process.env.SCREENSHOTS) await page.pdf({ path: `${process.env.SCREENSHOTS}/reading.pdf` });
  });
});

describe('in a frame of another site', () => {
  /** Serves a page of another site that frames a page; `localhost` and `127.0.0.1` are two sites. */
  async function serveFrame(src: string): Promise<string> {
    const server = createServer((_request, response) => {
      const frame = `<iframe src="${src}" title="SOP" width="600" height="500"></iframe>`;
      response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Intranet</title>${frame}`);
    });
    servers.push(server);
    return `http://localhost:${await listenLocally(server)}`;
  }

  test('the page is blocked unless the organization names the site', async () => {
    const intranet = await serveFrame(await addReader());
    await fixture.withPage({}, async (page) => {
      const blocked = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
      await page.goto(intranet);
      await blocked;
    });
  });

  test('a reader confirms in a frame of a named site', async () => {
    const { app, ada } = fixture;
    const intranet = await serveFrame(await addReader());
    const settings = { embed_origins: [intranet] };
    await must(app, 'PATCH', '/organization', { as: ada.token, body: { settings } });
    await fixture.withPage({}, async (page) => {
      await page.goto(intranet);
      const frame = page.frames()[1];
      if (!frame) throw new Error('There is no frame');
      await frame.getByRole('button', { name: 'Confirm' }).click();
      await frame.getByText('Confirmed on').first().waitFor();
      await takeScreenshot(page, 'framed');
    });
    const path = `/acknowledgements?document_id=${documentId}`;
    expect(await must(app, 'GET', path, { as: ada.key })).not.toEqual([]);
  });
});
