/** Tests that stored content has no side effects in a browser, by escaping alone and by the CSP alone. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { listenLocally } from '#libs/testing';
import { attacks as allAttacks, places } from '../../tests/rich-text/attacks.ts';
import { createRandom, hostileTree } from '../../tests/rich-text/hostile.ts';
import { type PageFixture, pageFixture, recordSideEffects } from './testing/page-fixture.ts';

/** The API rejects text that is not valid Unicode. */
const attacks = allAttacks.filter((attack) => attack.isWellFormed());
let fixture: PageFixture;
beforeAll(async () => {
  fixture = await pageFixture();
}, 180_000);
afterAll(() => fixture?.stop());

/** Whether the browser gets the page with its CSP; without it, only escaping protects the page. */
type Policy = 'with its CSP' | 'without its CSP';

/** Opens a page, runs work on it and expects no side effects. */
async function visit<R>(address: string, policy: Policy, work: (page: Page) => Promise<R>): Promise<R> {
  return fixture.withPage({}, async (page) => {
    const sideEffects = recordSideEffects(page);
    if (policy === 'without its CSP')
      await page.route(address, async (route) => {
        const response = await route.fetch();
        const { 'content-security-policy': _, ...headers } = response.headers();
        await route.fulfill({ response, headers });
      });
    await page.goto(address);
    const result = await work(page);
    expect(sideEffects).toEqual([]);
    return result;
  });
}

/** The elements and attributes of a page that are not allowed. */
async function findForbidden(page: Page): Promise<string[]> {
  return page.$$eval('*', (elements) => {
    const allowed =
      'html head meta title link style body a header main article h1 h2 h3 h4 h5 h6 dl div dt dd time nav details summary ol ul li span p section strong em s u mark sub sup code pre br img blockquote hr table thead tbody tr th td aside footer';
    const names = new Set(allowed.split(' '));
    const forbidden = new RegExp(
      [
        String.raw`^\w+ (on|style|color|src(?!=)|action|formaction|ping|http-equiv|data=)`,
        String.raw`^a href=(?!#[\d.]+$|#document$|#contents$|https?:|mailto:)`,
        String.raw`^img src=(?!data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$)`,
        '^link (?!rel=icon$|href=data:,$)',
        String.raw`^(?!a|img|link)\w+ (href|src)=`,
      ].join('|'),
    );
    return elements.flatMap((element) => {
      const { localName, attributes } = element;
      const written = [...attributes].map(({ name, value }) => `${localName} ${name}=${value}`);
      const wrong = written.filter((attribute) => forbidden.test(attribute));
      return names.has(localName) ? wrong : [localName];
    });
  });
}

const policies: Policy[] = ['with its CSP', 'without its CSP'];

describe.each(policies)('a public page %s', (policy) => {
  test('is not affected by attacks in node titles and rich text', async () => {
    const tree = attacks.map((attack) => ({
      node_type: 'section',
      title: attack,
      children: Object.entries(places).map(([place, inPlace]) => ({
        node_type: 'step',
        title: place,
        content: { type: 'doc', content: [inPlace(attack)] },
      })),
    }));
    const address = await fixture.share({ title: 'Attacked', nodes: tree });
    await visit(address, policy, async (page) => {
      expect(await findForbidden(page)).toEqual([]);
      expect(await page.title()).toContain('Attacked');
      expect(await page.locator('.step').count()).toBe(attacks.length * Object.keys(places).length);
    });
  });

  test('is not affected by attacks in document fields and organization name', async () => {
    const { app, ada } = fixture;
    for (let at = 0; at + 3 < attacks.length; at += 4) {
      const [title = '', version = '', department = '', name = ''] = attacks.slice(at, at + 4);
      const renamed = await app.request('PATCH', '/organization', { as: ada.token, body: { name } });
      expect(renamed.status).toBe(200);
      const address = await fixture.share({ title, version: version.slice(0, 64), department });
      await visit(address, policy, async (page) => {
        expect(await findForbidden(page)).toEqual([]);
        expect(await page.locator('h1').count()).toBe(1);
        expect(await page.locator('footer').count()).toBe(1);
        // the sheet with title, version and name has one @page rule with four boxes
        const rules =
          '[...document.styleSheets[1].cssRules].map((rule) => [rule.type, rule.cssRules.length])';
        expect(await page.evaluate(rules)).toEqual([[6, 4]]);
      });
    }
  });

  test('is not affected by hostile trees that no editor could produce', async () => {
    const random = createRandom(7);
    const sections = Array.from({ length: 150 }, (_, at) => ({
      node_type: 'section',
      title: `Hostile ${at}`,
      content: makeWellFormed({ type: 'doc', content: [hostileTree(random, 5)] }),
    }));
    const address = await fixture.share({ title: 'Hostile', nodes: sections });
    await visit(address, policy, async (page) => {
      expect(await findForbidden(page)).toEqual([]);
      expect(await page.locator('.section').count()).toBe(sections.length);
    });
  });
});

test('the CSP alone blocks injected scripts, styles and requests', async () => {
  const address = await fixture.share({ title: 'A page without escaping' });
  const requests: string[] = [];
  const otherSite = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end();
  });
  const port = await listenLocally(otherSite);
  const origin = `http://127.0.0.1:${port}`;
  const injected = `<script>alert(1)</script><script src="${origin}/script"></script>
<img src="${origin}/image" onerror="alert(2)"><link rel="stylesheet" href="${origin}/style">
<iframe src="${origin}/frame"></iframe><video src="${origin}/video"></video><object data="${origin}/object"></object>
<style>h1 { display: none }</style><p style="display: none" id="styled">x</p>`;
  const sideEffects = await fixture.withPage({}, async (page) => {
    const recorded = recordSideEffects(page);
    await page.route(address, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('<article', `${injected}<article`);
      await route.fulfill({ response, body });
    });
    await page.goto(address, { waitUntil: 'networkidle' });
    expect(await page.locator('h1').isVisible()).toBe(true);
    expect(await page.locator('#styled').isVisible()).toBe(true);
    return recorded;
  });
  otherSite.close();
  expect(requests).toEqual([]);
  expect(sideEffects.filter((effect) => /^(dialog|popup)/.test(effect))).toEqual([]);
  // the browser reports each blocked item in the console
  expect(
    sideEffects.filter((effect) => effect.includes('Content Security Policy')).length,
  ).toBeGreaterThanOrEqual(9);
});

/** Replaces each half of a character in texts and names, because the API rejects it. */
function makeWellFormed(value: object): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g, '\ufffd'));
}
