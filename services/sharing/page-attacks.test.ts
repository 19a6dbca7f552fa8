/**
 * Promises that nothing stored can run, load or change anything, in a real browser; escaping and policy each
 * hold alone.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { attacks, places } from '../../libs/rich-text/testing/attacks.ts';
import { createRandom, hostileTree } from '../../libs/rich-text/testing/hostile.ts';
import { type PageFixture, pageFixture, recordSideEffects } from './testing/page-fixture.ts';

let stage: PageFixture;
beforeAll(async () => {
  stage = await pageFixture();
}, 180_000);
afterAll(() => stage?.stop());

/** Whether the page comes with the policy that it is served with; without it, only escaping is left. */
type Policy = 'with its policy' | 'without any policy';

async function visited<R>(address: string, policy: Policy, work: (page: Page) => Promise<R>): Promise<R> {
  return stage.withPage({}, async (page) => {
    const misdeeds = recordSideEffects(page);
    if (policy === 'without any policy')
      await page.route(address, async (route) => {
        const response = await route.fetch();
        const { 'content-security-policy': _, ...headers } = response.headers();
        await route.fulfill({ response, headers });
      });
    await page.goto(address);
    const result = await work(page);
    expect(misdeeds).toEqual([]);
    return result;
  });
}

/** What no page may hold, whatever was stored. */
async function forbiddenIn(page: Page): Promise<string[]> {
  return page.$$eval('*', (elements) => {
    const allowed =
      'html head meta title link style body a header main article h1 h2 h3 h4 h5 h6 dl div dt dd time nav details summary ol ul li span p section strong em s u mark sub sup code pre br img blockquote hr table thead tbody tr th td input footer';
    const names = new Set(allowed.split(' '));
    const forbidden = new RegExp(
      [
        String.raw`^\w+ (on|style|src(?!=)|action|formaction|ping|http-equiv|data=)`,
        String.raw`^a href=(?!#[\d.]+$|#document$|https?:|mailto:)`,
        String.raw`^img src=(?!data:image\/(png|jpeg|gif);base64,[A-Za-z0-9+/]+=*$)`,
        '^link (?!rel=icon$|href=data:,$)',
        String.raw`^(?!a|img|link)\w+ (href|src)=`,
      ].join('|'),
    );
    return elements.flatMap((element) => {
      const { localName, attributes } = element;
      const held = [...attributes].map(({ name, value }) => `${localName} ${name}=${value}`);
      const wrong = held.filter((one) => forbidden.test(one));
      return names.has(localName) ? wrong : [localName];
    });
  });
}

const policies: Policy[] = ['with its policy', 'without any policy'];

describe.each(policies)('%s', (policy) => {
  test('no attack in a title of a node or anywhere in its text does anything', async () => {
    const tree = attacks.map((attack) => ({
      node_type: 'section',
      title: attack,
      children: Object.entries(places).map(([place, inPlace]) => ({
        node_type: 'step',
        title: place,
        content: { type: 'doc', content: [inPlace(attack)] },
      })),
    }));
    const address = await stage.share({ title: 'Attacked', nodes: tree });
    await visited(address, policy, async (page) => {
      expect(await forbiddenIn(page)).toEqual([]);
      expect(await page.title()).toContain('Attacked');
      expect(await page.locator('.step').count()).toBe(attacks.length * Object.keys(places).length);
    });
  }, 60_000);

  test('no attack as title, version, department or name of the organization does anything', async () => {
    const { app, ada } = stage;
    for (let at = 0; at + 3 < attacks.length; at += 4) {
      const [title = '', version = '', department = '', name = ''] = attacks.slice(at, at + 4);
      const renamed = await app.request('PATCH', '/organization', { as: ada.token, body: { name } });
      expect(renamed.status).toBe(200);
      const address = await stage.share({ title, version: version.slice(0, 64), department });
      await visited(address, policy, async (page) => {
        expect(await forbiddenIn(page)).toEqual([]);
        expect(await page.locator('h1').count()).toBe(1);
        expect(await page.locator('footer').count()).toBe(1);
      });
    }
  }, 120_000);

  test('nothing that an editor could not have made does anything', async () => {
    const random = createRandom(7);
    const sections = Array.from({ length: 150 }, (_, at) => ({
      node_type: 'section',
      title: `Hostile ${at}`,
      content: { type: 'doc', content: [hostileTree(random, 5)] },
    }));
    const address = await stage.share({ title: 'Hostile', nodes: sections });
    await visited(address, policy, async (page) => {
      expect(await forbiddenIn(page)).toEqual([]);
      expect(await page.locator('.section').count()).toBe(sections.length);
    });
  }, 60_000);
});

test('the policy alone stops scripts, styles and requests that escaping would have let through', async () => {
  const address = await stage.share({ title: 'A page that lost its escaping' });
  const asked: string[] = [];
  const elsewhere = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  const { port } = elsewhere.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const injected = `<script>alert(1)</script><script src="${origin}/script"></script>
<img src="${origin}/image" onerror="alert(2)"><link rel="stylesheet" href="${origin}/style">
<iframe src="${origin}/frame"></iframe><video src="${origin}/video"></video><object data="${origin}/object"></object>
<style>h1 { display: none }</style><p style="display: none" id="styled">x</p>`;
  const misdeeds = await stage.withPage({}, async (page) => {
    const found = recordSideEffects(page);
    await page.route(address, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('<article', `${injected}<article`);
      await route.fulfill({ response, body });
    });
    await page.goto(address, { waitUntil: 'networkidle' });
    expect(await page.locator('h1').isVisible()).toBe(true);
    expect(await page.locator('#styled').isVisible()).toBe(true);
    return found;
  });
  elsewhere.close();
  expect(asked).toEqual([]);
  expect(misdeeds.filter((one) => /^(dialog|popup)/.test(one))).toEqual([]);
  // the browser says so of each of them
  expect(misdeeds.filter((one) => one.includes('Content Security Policy')).length).toBeGreaterThanOrEqual(9);
}, 60_000);
