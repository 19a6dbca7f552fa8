/** Tests of HTML files in a browser that is offline: requests, policy, accessibility, pictures, words, print. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { must, readPdf } from '#libs/testing';
import { encodePng } from '../../tests/fixtures/generators/png.ts';
import { fillingProcedure } from '../sharing/testing/filling-procedure.ts';
import {
  findViolations,
  type PageFixture,
  pageFixture,
  recordSideEffects,
} from '../sharing/testing/page-fixture.ts';
import { exporting } from './service.ts';

let fixture: PageFixture;
let folder: string;
/** The URLs of the file of a draft, and of a published document with its public link. */
let files: { draft: string; published: string; link: string };

beforeAll(async () => {
  fixture = await pageFixture([exporting]);
  folder = await mkdtemp(join(tmpdir(), 'html-file-'));
  const { app, ada } = fixture;
  const as = ada.key;
  const draft = await must(app, 'POST', '/documents', { as, body: fillingProcedure });
  const { id } = await must(app, 'POST', '/documents', {
    as,
    body: await withUploadedPicture(fillingProcedure),
  });
  await must(app, 'POST', `/documents/${id}/publish`, { as });
  const { org_slug, token } = await must(app, 'POST', `/documents/${id}/share-token`, { as });
  files = {
    draft: await download(draft.id),
    published: await download(id),
    link: `${app.origin}/embed/${org_slug}/${token}?format=html`,
  };
}, 180_000);
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true });
  await fixture?.stop();
});

/** Adds a section with an uploaded picture. */
async function withUploadedPicture(procedure: typeof fillingProcedure): Promise<object> {
  const body = new FormData();
  const picture = encodePng(300, 200, (x) => [x < 150 ? 11 : 205, 74, 125, 255]);
  body.append('file', new Blob([new Uint8Array(picture)]), 'plan.png');
  const { src } = await must(fixture.app, 'POST', '/assets', { as: fixture.ada.key, body });
  const content = { type: 'doc', content: [{ type: 'image', attrs: { src, alt: 'The uploaded plan' } }] };
  return { ...procedure, nodes: [...procedure.nodes, { node_type: 'section', title: 'Plan', content }] };
}

async function download(id: string): Promise<string> {
  const { bytes } = await fixture.app.request('GET', `/documents/${id}/export/html`, { as: fixture.ada.key });
  const path = join(folder, `${id}.html`);
  await writeFile(path, bytes);
  return pathToFileURL(path).href;
}

/** Opens a file without a network, lets `work` look at it, and expects no request and no violation of the policy. */
async function openOffline(
  url: string,
  work: (page: Page) => Promise<void>,
  options: object = {},
): Promise<void> {
  await fixture.withPage({ ...options, offline: true }, async (page) => {
    const sideEffects = recordSideEffects(page);
    await page.goto(url, { waitUntil: 'networkidle' });
    await work(page);
    expect(sideEffects).toEqual([]);
  });
}

test('a file loads nothing and shows all pictures', async () => {
  await openOffline(files.published, async (page) => {
    const widths: number[] = await page.evaluate('[...document.images].map((image) => image.naturalWidth)');
    expect(widths.length).toBeGreaterThan(2);
    expect(Math.min(...widths)).toBeGreaterThan(0);
    expect(await page.getByAltText('The uploaded plan').evaluate((image) => image.clientWidth)).toBe(300);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/html-file.png` });
  });
});

test('a file of a published document has the words of its page', async () => {
  const readWords = async (page: Page) => (await page.locator('main').innerText()).split(/\s+/);
  let words: string[] = [];
  await fixture.withPage({}, async (page) => {
    await page.goto(files.link);
    words = await readWords(page);
  });
  expect(words.length).toBeGreaterThan(500);
  await openOffline(files.published, async (page) => expect(await readWords(page)).toEqual(words));
});

test.each([
  [360, 'dark'],
  [1280, 'light'],
] as const)('a file conforms to WCAG 2.2 AA at %i px in %s mode', async (width, colorScheme) => {
  for (const url of [files.draft, files.published])
    await fixture.withPage(
      { viewport: { width, height: 900 }, colorScheme, bypassCSP: true },
      async (page) => {
        await page.goto(url);
        expect(await findViolations(page)).toEqual([]);
        if (process.env.SCREENSHOTS)
          await page.screenshot({
            path: `${process.env.SCREENSHOTS}/html-file-${width}-${url === files.draft}.png`,
          });
      },
    );
});

test('a printed draft says so on each page, and at the end that it is a copy', async () => {
  await openOffline(files.draft, async (page) => {
    const pages = await readPdf(await page.pdf({ format: 'A4' }));
    expect(pages.length).toBeGreaterThan(5);
    for (const { text } of pages) expect(text.replaceAll(/\s+/g, ' ').slice(0, 300)).toContain('Draft');
    expect(pages.at(-1)?.text.replaceAll(/\s+/g, ' ')).toContain('This file is a copy. It is not updated.');
  });
});
