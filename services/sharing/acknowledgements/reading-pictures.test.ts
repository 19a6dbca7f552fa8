/** Tests of the pictures of personal links: their addresses, and who gets them. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must, type Person } from '#libs/testing';
import {
  type AcknowledgementFixture,
  acknowledgementFixture,
  hashServed,
} from '../testing/acknowledgements.ts';

let fixture: AcknowledgementFixture;
let ada: Person;

beforeAll(async () => {
  fixture = await acknowledgementFixture();
  ada = await fixture.organization();
}, 120_000);
afterAll(() => fixture?.app.stop());

const folder = new URL('../../../tests/fixtures/pictures/', import.meta.url);

async function upload(name: string): Promise<{ id: string; src: string; size_bytes: number }> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(await readFile(new URL(name, folder)))]), name);
  return must(fixture.app, 'POST', '/assets', { as: ada.key, body: form });
}

const get = (url: string, query = '') => fixture.app.request('GET', new URL(url).pathname + query);

test('a personal link shows the pictures of its document, while it works', async () => {
  const [shown, other] = [await upload('rgb.png'), await upload('plain.gif')];
  const content = { type: 'doc', content: [{ type: 'image', attrs: { src: shown.src, alt: 'The valve' } }] };
  const nodes = [{ node_type: 'section', title: 'One', content }];
  const document = await fixture.publish(ada.key, { title: 'Pictures', nodes });
  const request = await fixture.ask(ada.key, document.id);
  const [reader] = await fixture.addReaders(ada.key, request.id, ['E 1']);
  const address = `${reader.url}/assets/${shown.id}`;

  const json = await fixture.read(reader.url);
  expect(json.body.nodes[0].content.content[0].attrs.src).toBe(address);
  const { acknowledgement, ...served } = JSON.parse(
    JSON.stringify(json.body).replaceAll(`${reader.url}/assets/`, 'asset:'),
  );
  expect(hashServed(served)).toBe(acknowledgement.content_hash);

  const page = await get(reader.url, '?format=html');
  expect(Buffer.from(page.bytes).toString()).toContain(`src="${address}"`);
  expect(page.headers.get('content-security-policy')).toContain(`img-src data: ${reader.url}/assets/`);
  const headers = { 'if-none-match': page.headers.get('etag') ?? '' };
  const again = await fixture.app.request('GET', `${new URL(reader.url).pathname}?format=html`, { headers });
  expect(again.status).toBe(304);
  expect(again.headers.get('content-security-policy')).toContain(`${reader.url}/assets/`);

  const picture = await get(address);
  expect([picture.status, picture.bytes.length]).toEqual([200, shown.size_bytes]);
  expect(picture.headers.get('cache-control')).toBe('private, no-cache');
  expect((await get(`${reader.url}/assets/${other.id}`)).status).toBe(404);
  await must(fixture.app, 'POST', `/acknowledgement-requests/${request.id}/close`, { as: ada.key });
  expect((await get(address)).status).toBe(404);
});
