/** The start page: HTML for browsers, JSON for programs. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { httpClient, type TestApp, testApp, testBrowser } from '#libs/testing';
import { identity } from '../../testing/services.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const guides = 'https://guides.example.com/docs?a="b"&c=<d>';

const services = [identity];
const contracts = services.map((service) => service.contract);
let app: TestApp;
let browser: Browser;

beforeAll(async () => {
  [app, browser] = await Promise.all([
    testApp({ services, contracts, environment: { GUIDES_URL: guides } }),
    testBrowser(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } };

describe.each(['/', ''])('the start page at path %j', (path) => {
  test('a program gets JSON with working links', async () => {
    const { status, body, headers } = await app.request('GET', path);
    expect(status).toBe(200);
    expect(headers.get('vary')).toContain('Accept');
    expect(body).toMatchObject({
      title: 'Process Document Service',
      status: 'ok',
      services: [{ name: 'identity', status: 'ok' }],
      links: { api: '/api/v1', guides },
    });
    for (const link of [body.links.reference, body.links.openapi])
      expect((await httpClient(app.origin).request('GET', link)).status).toBe(200);
  });

  test('a browser gets a page without scripts and with a strict CSP', async () => {
    const { status, bytes, headers } = await app.request('GET', path, asBrowser);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|script/);
    const page = new TextDecoder().decode(bytes);
    expect(page).toContain('href="/api/v1/docs"');
    expect(page).toContain('a=&quot;b&quot;&amp;c=&lt;d&gt;');
    expect(page).not.toContain('<script');
  });
});

test('unknown paths at the root are 404', async () => {
  for (const path of ['/start', '/api'])
    expect((await httpClient(app.origin).request('GET', path)).status).toBe(404);
});

test('the start page without GUIDES_URL names the docs folder', async () => {
  const otherApp = await testApp({ services, contracts });
  try {
    expect((await otherApp.request('GET', '/')).body.links.guides).toBeNull();
    const { bytes } = await otherApp.request('GET', '/', asBrowser);
    expect(new TextDecoder().decode(bytes)).toContain('<code>docs/README.md</code>');
  } finally {
    await otherApp.stop();
  }
});

describe.each(['light', 'dark'] as const)('the start page in %s mode', (colorScheme) => {
  test.each([320, 768, 1280])(
    'the page at %i px is accessible, fits and loads nothing external',
    async (width) => {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      try {
        const page = await context.newPage();
        const problems: string[] = [];
        page.on('console', (message) => problems.push(message.text()));
        page.on('request', (request) => {
          if (!request.url().startsWith(app.origin)) problems.push(request.url());
        });
        await page.goto(app.origin);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        await page.evaluate(axe);
        const run = `axe.run({ runOnly: ${JSON.stringify(rules)} }).then((r) => r.violations.map((v) => v.id))`;
        expect(await page.evaluate(run)).toEqual([]);
        expect(problems).toEqual([]);
      } finally {
        await context.close();
      }
    },
  );
});
