/** Tests in a real browser that uploaded pictures are shown, upright and with the pixels of the upload. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cleanPicture } from '#libs/pictures';
import { listenLocally, must } from '#libs/testing';
import { type PageFixture, pageFixture, recordSideEffects } from './testing/page-fixture.ts';

const folder = new URL('../../tests/fixtures/pictures/', import.meta.url);
const names = readdirSync(folder).filter((name) => /\.(png|jpg|gif)$/.test(name));
const read = (name: string) => readFileSync(new URL(name, folder));

let fixture: PageFixture;
const servers: Server[] = [];

beforeAll(async () => {
  fixture = await pageFixture();
}, 180_000);
afterAll(async () => {
  for (const server of servers) server.close();
  await fixture?.stop();
});

/** Shares a document that shows these files. Returns the URL of its page. */
async function share(files: readonly string[], controls?: object): Promise<string> {
  const { app, ada } = fixture;
  const content = [];
  for (const name of files) {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(read(name))]), name);
    const { src } = await must(app, 'POST', '/assets', { as: ada.key, body });
    content.push({ type: 'image', attrs: { src, alt: name } });
  }
  const nodes = [{ node_type: 'section', title: 'Pictures', content: { type: 'doc', content } }];
  const as = ada.key;
  const { id } = await must(app, 'POST', '/documents', { as, body: { title: 'All pictures', nodes } });
  await must(app, 'POST', `/documents/${id}/publish`, { as });
  const { token, org_slug } = await must(app, 'POST', `/documents/${id}/share-token`, { as });
  if (controls) await must(app, 'PATCH', `/documents/${id}/share-token`, { as, body: controls });
  return `${app.origin}/embed/${org_slug}/${token}?format=html`;
}

/** Serves a page that frames a link; `localhost` is another site than that of the link, `127.0.0.1` the same. */
async function serveFrame(src: string, { host = 'localhost', attributes = '' } = {}): Promise<string> {
  const server = createServer((_request, response) => {
    const frame = `<iframe src="${src}" title="SOP" width="900" height="700" ${attributes}></iframe>`;
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Intranet</title>${frame}`);
  });
  servers.push(server);
  return `http://${host}:${await listenLocally(server)}`;
}

/** The permissions of a frame with `sandbox` that the documentation names, also those for a password. */
function readSandboxPermissions(): string {
  const docs = readFileSync(new URL('../../docs/embedding.md', import.meta.url), 'utf8');
  const [, usual = ''] = /sandbox="([^"]*)"/.exec(docs) ?? [];
  const [, more = ''] = /with `sandbox` also needs `([^`]*)`/.exec(docs) ?? [];
  return `${usual} ${more}`;
}

/** The natural size of each picture of a page; 0 for one that is not shown. */
const listSizes = `[...document.images].map((image) => image.decode().then(
  () => [image.alt, image.naturalWidth, image.naturalHeight, image.width / image.height],
  () => [image.alt, 0, 0, 0]))`;

describe.each([
  ['without a password', undefined],
  ['with a password', { password: 'Zürich liegt am See' }],
])('in a frame of another site, %s', (_name, controls) => {
  test('every picture is shown in its size, without a violation of the policy', async () => {
    const url = await share(names, controls);
    const intranet = await serveFrame(url);
    await fixture.withPage({ viewport: { width: 1000, height: 800 } }, async (page) => {
      const sideEffects = recordSideEffects(page);
      await page.goto(intranet);
      const frame = page.frames()[1];
      if (!frame) throw new Error('There is no frame');
      if (controls) {
        await frame.getByLabel('Password').fill(controls.password);
        await frame.getByRole('button', { name: 'Open the document' }).click();
      }
      await frame.getByRole('heading', { level: 1, name: 'All pictures' }).waitFor();
      const sizes = await frame.evaluate(`Promise.all(${listSizes})`);
      const expected = names.map((name) => {
        const cleaned = cleanPicture(read(name));
        if (!cleaned.ok) throw new Error(name);
        const { width, height } = cleaned.picture;
        return [name, width, height, width / height];
      });
      expect(sizes).toEqual(expected);
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/pictures-${Boolean(controls)}.png` });
      const own = new URL(url).origin;
      const others = sideEffects.filter(
        (effect) => !/401|Password forms/.test(effect) && !effect.includes(own),
      );
      expect(others).toEqual([]);
    });
  });
});

test.each(['localhost', '127.0.0.1'])(
  'with a password, a frame with sandbox shows pictures in a page of %s',
  async (host) => {
    const controls = { password: 'Zürich liegt am See' };
    const attributes = `sandbox="${readSandboxPermissions()}"`;
    const intranet = await serveFrame(await share(names.slice(0, 1), controls), { host, attributes });
    await fixture.withPage({}, async (page) => {
      await page.goto(intranet);
      const frame = page.frameLocator('iframe');
      await frame.getByLabel('Password').fill(controls.password);
      const response = page.waitForResponse(/\/assets\//);
      await frame.getByRole('button', { name: 'Open the document' }).click();
      expect((await response).status()).toBe(200);
    });
  },
);

test('stored pictures have the pixels of the uploaded files', async () => {
  await fixture.withPage({}, async (page) => {
    await page.goto('about:blank');
    for (const name of names) {
      const cleaned = cleanPicture(read(name));
      if (!cleaned.ok) throw new Error(name);
      const type = cleaned.picture.mediaType;
      const [before, after] = [read(name), cleaned.picture.bytes].map(
        (bytes) => `data:${type};base64,${Buffer.from(bytes).toString('base64')}`,
      );
      const pixels = await page.evaluate(`Promise.all(${JSON.stringify([before, after])}.map(async (src) => {
        const image = Object.assign(new Image(), { src });
        await image.decode();
        const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        return [...context.getImageData(0, 0, image.width, image.height).data].join();
      }))`);
      const [expected, stored] = pixels as [string, string];
      expect({ name, isEqual: stored === expected && stored.length > 10 }).toEqual({ name, isEqual: true });
    }
  });
});
