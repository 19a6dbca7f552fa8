/**
 * Makes the pictures of README.md and docs/import.md again: `npm run readme:images`. Starts the service, opens the
 * public page of the demo SOP in a browser, prints its Word file with LibreOffice, and imports a Word file. Needs
 * Chromium, LibreOffice and poppler-utils.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { apiClient, must, printToPdf, testBrowser } from '#libs/testing';
import { localRun } from '../tests/local-run.ts';

type Browser = Awaited<ReturnType<typeof testBrowser>>;

const run = promisify(execFile);
const images = new URL('../docs/images/', import.meta.url);
const imported = new URL('../tests/fixtures/imports/filling-line.docx', import.meta.url);
const template = new URL('../tests/fixtures/corporate-template.docx', import.meta.url);
const maxBytes = 150_000;

const folder = await mkdtemp(join(tmpdir(), 'pds-images-'));
const service = await localRun(join(folder, 'data'));
const browser = await testBrowser();
try {
  await mkdir(images, { recursive: true });
  const [, key = ''] = /Demo API key +(\S+)/.exec(service.printed()) ?? [];
  // the printed link has the default port
  const [, path = ''] = /(\/embed\/\S+)/.exec(service.printed()) ?? [];
  const url = `${service.origin}${path}?format=html`;
  await save('public-page.png', await drawPublicPage(browser, url));
  await save('word-file.png', await drawWordFile(browser, await exportWord(key)));
  await save('import.png', await drawImport(browser, key));
} finally {
  await browser.close();
  service.process.kill('SIGTERM');
  await service.exited;
  await rm(folder, { recursive: true, force: true });
}

/** The page on a screen in light mode, and on a phone in dark mode. */
async function drawPublicPage(browser: Browser, url: string): Promise<Buffer> {
  const screen = await openPage(browser, url, { width: 900, height: 600, colorScheme: 'light' });
  const phone = await openPage(browser, url, { width: 390, height: 600, colorScheme: 'dark' });
  return placeSideBySide(browser, [screen, phone]);
}

async function openPage(
  browser: Browser,
  url: string,
  { colorScheme, ...viewport }: { width: number; height: number; colorScheme: 'light' | 'dark' },
): Promise<Buffer> {
  const page = await browser.newPage({ viewport, colorScheme });
  await page.goto(url);
  return page.screenshot().finally(() => page.close());
}

/** Exports the demo SOP with the corporate template. */
async function exportWord(key: string): Promise<Uint8Array> {
  const api = apiClient(service.origin);
  const form = new FormData();
  form.set('name', 'Corporate');
  form.set('file', new Blob([await readFile(template)]), 'corporate-template.docx');
  const { id } = await must(api, 'POST', '/templates', { as: key, body: form });
  const [document] = await must(api, 'GET', '/documents?status=published', { as: key });
  const word = `/documents/${document.id}/export/word?template_id=${id}`;
  return (await api.request('GET', word, { as: key })).bytes;
}

/** The first and the third page of a Word file. */
async function drawWordFile(browser: Browser, word: Uint8Array): Promise<Buffer> {
  return placeSideBySide(browser, await printPages(word, ['1', '3']));
}

/** The first page of a Word file, and the public page of the document that its import creates. */
async function drawImport(browser: Browser, key: string): Promise<Buffer> {
  const api = apiClient(service.origin);
  const word = new Uint8Array(await readFile(imported));
  const form = new FormData();
  form.set('file', new Blob([word]), 'filling-line.docx');
  const { documents } = await must(api, 'POST', '/imports', { as: key, body: form });
  const path = `/documents/${documents[0].id}`;
  await must(api, 'POST', `${path}/publish`, { as: key });
  const { org_slug, token } = await must(api, 'POST', `${path}/share-token`, { as: key });
  const url = `${service.origin}/embed/${org_slug}/${token}?format=html`;
  const page = await openPage(browser, url, { width: 760, height: 725, colorScheme: 'light' });
  return placeSideBySide(browser, [...(await printPages(word, ['1'])), page]);
}

/** Pages of a Word file, printed by LibreOffice. */
async function printPages(word: Uint8Array, pages: readonly string[]): Promise<Buffer[]> {
  await printToPdf(new Map([['sop', word]]), folder);
  const files = [];
  for (const page of pages) {
    const options = ['-png', '-singlefile', '-r', '62', '-f', page, '-l', page];
    await run('pdftoppm', [...options, join(folder, 'sop.pdf'), join(folder, page)]);
    files.push(await readFile(join(folder, `${page}.png`)));
  }
  return files;
}

/** One picture with a border around each part. */
async function placeSideBySide(browser: Browser, parts: readonly Buffer[]): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  const sources = parts.map((part) => `<img src="data:image/png;base64,${part.toString('base64')}">`);
  await page.setContent(`<style>
    body { margin: 0; display: inline-flex; gap: 16px; padding: 8px; background: #fff; }
    img { border: 1px solid #bbb; border-radius: 6px; }
  </style><body>${sources.join('')}</body>`);
  return page
    .locator('body')
    .screenshot()
    .finally(() => page.close());
}

/** Writes a picture. Throws if it is too large for the repository. */
async function save(name: string, picture: Buffer): Promise<void> {
  const file = new URL(name, images);
  await writeFile(file, picture);
  const { size } = await stat(file);
  if (size > maxBytes) throw new Error(`docs/images/${name} has ${size} bytes, more than ${maxBytes}`);
  console.log(`docs/images/${name}: ${size} bytes`);
}
