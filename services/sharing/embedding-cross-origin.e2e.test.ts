/** Tests of public links fetched by pages of other origins, in a real browser, also through the gateway. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { gateway } from '#libs/http';
import {
  listenLocally,
  type Person,
  register,
  shareDocument,
  type TestApp,
  testApp,
  testBrowser,
} from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';
import { sharing } from './service.ts';

const contracts = [identity, documents, sharing].map(({ contract }) => contract);
let app: TestApp;
let ada: Person;
let browser: Browser;
const servers: Server[] = [];

beforeAll(async () => {
  app = await testApp({ services: [identity, documents, sharing], contracts });
  [ada, browser] = await Promise.all([register(app), testBrowser()]);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  for (const server of servers) server.close();
  await app?.stop();
});

async function serve(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  return `http://127.0.0.1:${await listenLocally(server)}`;
}

test('a page of another origin reads a public link and its ETag gives 304', async () => {
  const { path } = await shareDocument(app, ada.key);
  const addresses = Object.fromEntries(contracts.map(({ name }) => [name, app.origin]));
  const gatewayOrigin = await serve(
    gateway({ contracts, apiPrefix: '/api/v1', addresses, onError: () => {} }),
  );
  const intranet = await serve((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Intranet</title>');
  });
  const page = await browser.newPage();
  for (const origin of [app.origin, gatewayOrigin]) {
    await page.goto(intranet);
    const results = await page.evaluate(async (address) => {
      const first = await fetch(address);
      const etag = first.headers.get('etag') ?? '';
      const read = async (tag: string) =>
        (await fetch(address, { headers: { 'If-None-Match': tag } })).status;
      return [
        first.status,
        (await first.text()).includes('"title":"SOP"'),
        await read(etag),
        await read('"other"'),
      ];
    }, `${origin}${path}`);
    expect(results).toEqual([200, true, 304, 200]);
  }
  await page.close();
});

test('a preflight response does not depend on the public link', async () => {
  const preflight = async (token: string) => {
    const { status, headers } = await app.request('OPTIONS', `/embed/${ada.slug}/${token}`);
    return [status, headers.get('access-control-allow-origin'), headers.get('access-control-allow-headers')];
  };
  expect(await preflight('nothing')).toEqual([204, '*', 'If-None-Match']);
});
