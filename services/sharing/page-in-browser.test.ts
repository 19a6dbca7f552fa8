/**
 * Promises of the page to people: every screen, light and dark, paper, keyboard, no script; in a real
 * browser.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { rendererFixture } from './page/renderer-fixture.ts';
import { type PageFixture, pageFixture, recordSideEffects, sop } from './testing/page-fixture.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const widths = [360, 768, 1280];
const schemes = ['light', 'dark'] as const;

let stage: PageFixture;
/**
 * The sample procedure, a document with everything that can be in one, and one that tries to break its page.
 */
let links: Record<'sop' | 'specimen' | 'unwieldy', string>;

beforeAll(async () => {
  stage = await pageFixture();
  links = {
    sop: await stage.share(sop),
    specimen: await stage.share({
      title: rendererFixture.document.title,
      nodes: tree(rendererFixture.rows[0]?.content),
    }),
    unwieldy: await stage.share(unwieldy),
  };
}, 180_000);
afterAll(() => stage?.stop());

describe.each(schemes)('in %s', (colorScheme) => {
  test.each(widths)(
    'at %i px the page keeps the rules of WCAG 2.2 AA',
    async (width) => {
      await stage.withPage({ viewport: { width, height: 900 }, colorScheme }, async (page) => {
        await page.goto(links.specimen);
        expect(await violationsOn(page)).toEqual([]);
      });
    },
    60_000,
  );
});

test('a long procedure and the notice of a link that leads nowhere keep them too', async () => {
  await stage.withPage({ viewport: { width: 1280, height: 900 } }, async (page) => {
    for (const address of [links.sop, `${stage.app.origin}/embed/nobody/nothing`]) {
      await page.goto(address);
      expect(await violationsOn(page)).toEqual([]);
    }
  });
}, 60_000);

test.each(widths)(
  'at %i px nothing makes the page wider than the screen',
  async (width) => {
    await stage.withPage({ viewport: { width, height: 900 } }, async (page) => {
      for (const address of [links.unwieldy, links.specimen, links.sop]) {
        await page.goto(address);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    });
  },
  60_000,
);

test('the page needs no script, no font, no picture from elsewhere: one request is all', async () => {
  await stage.withPage({ javaScriptEnabled: false }, async (page) => {
    const misdeeds = recordSideEffects(page);
    await page.goto(links.specimen, { waitUntil: 'networkidle' });
    expect(misdeeds).toEqual([]);
    expect(await page.locator('h1').innerText()).toBe(rendererFixture.document.title);
    expect(
      await page
        .locator('img')
        .first()
        .evaluate((image) => image.naturalWidth),
    ).toBe(1);
    expect(await page.getByRole('link', { name: 'remote' }).first().getAttribute('href')).toBe(
      'https://example.com/a.png',
    );
  });
}, 60_000);

test('dark readers get a dark page, and paper is light for them too', async () => {
  await stage.withPage({ colorScheme: 'dark' }, async (page) => {
    await page.goto(links.specimen);
    const lightness = async () => {
      const color = await styleOf(page.locator('.sheet'), 'color');
      return Math.max(...[...color.matchAll(/\d+/g)].map(Number));
    };
    expect(await lightness()).toBeGreaterThan(200);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await lightness()).toBeLessThan(60);
  });
}, 60_000);

test('on paper there is the document and what it is, and nothing to click', async () => {
  await stage.withPage({}, async (page) => {
    await page.goto(links.sop);
    await page.emulateMedia({ media: 'print' });
    const shown = async (name: string) => page.locator(name).first().isVisible();
    expect(await Promise.all(['.contents.narrow', '.contents.wide', '.skip'].map(shown))).toEqual([
      false,
      false,
      false,
    ]);
    expect(await Promise.all(['.masthead', 'h1', '.facts', '.section', 'footer'].map(shown))).not.toContain(
      false,
    );
    const target = await styleOf(page.locator('.text a[target]').first(), 'content', '::after');
    expect(target).toContain('https://');
    const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages.length).toBeGreaterThan(5);
  });
}, 60_000);

describe('with the keyboard', () => {
  test('the first key leads past everything to the document', async () => {
    await stage.withPage({}, async (page) => {
      await page.goto(links.sop);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the document');
      expect(await topOf(page.locator('.skip'))).toBeGreaterThan(0);
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('document');
    });
  }, 60_000);

  test('the contents are folded on a phone, beside the text on a desk, and lead to their sections', async () => {
    for (const [width, name] of [
      [360, '.narrow'],
      [1280, '.wide'],
    ] as const)
      await stage.withPage({ viewport: { width, height: 700 } }, async (page) => {
        await page.goto(links.sop);
        const link = page.locator(`${name} a[href="#4.2"]`);
        expect(await link.isVisible()).toBe(width > 1000);
        if (width < 1000) {
          await page.locator('summary').focus();
          await page.keyboard.press('Enter');
        }
        await link.focus();
        await page.keyboard.press('Enter');
        const heading = page.getByRole('heading', { name: '4.2 Move traffic away' });
        await heading.waitFor();
        expect(await topOf(heading)).toBeLessThan(120);
        expect(await page.getByRole('navigation').count()).toBe(1);
      });
  }, 60_000);
});

test('a node is reached by its number and by its id as JSON tells it', async () => {
  const told = await stage.app.request('GET', new URL(links.sop).pathname);
  const node = told.body.nodes[4].children[1];
  await stage.withPage({ viewport: { width: 1280, height: 700 } }, async (page) => {
    for (const fragment of [node.id, '5.2']) {
      await page.goto('about:blank');
      await page.goto(`${links.sop}#${fragment}`);
      const heading = page.getByRole('heading', { name: `5.2 ${node.title}` });
      expect(await topOf(heading)).toBeLessThan(120);
    }
  });
}, 60_000);

test('another site may frame the page as the docs say, until the organization names others', async () => {
  const { app, ada } = stage;
  const docs = readFileSync(new URL('../../docs/embedding.md', import.meta.url), 'utf8');
  const [snippet = ''] = /<iframe.*<\/iframe>/s.exec(docs) ?? [];
  const site = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(snippet.replace(/src="[^"]*"/, `src="${links.sop}?format=html"`));
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const { port } = site.address() as AddressInfo;
  const allow = (embed_origins: string[] | null) =>
    app.request('PATCH', '/organization', { as: ada.token, body: { settings: { embed_origins } } });
  const isFramed = () =>
    stage.withPage({}, async (page) => {
      await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'networkidle' });
      return page.frameLocator('iframe').locator('h1', { hasText: sop.title }).isVisible();
    });
  try {
    expect(await isFramed()).toBe(true);
    await allow(['https://intranet.example']);
    expect(await isFramed()).toBe(false);
    await allow(['https://intranet.example', `http://127.0.0.1:${port}`]);
    expect(await isFramed()).toBe(true);
    await allow([]);
    expect(await isFramed()).toBe(false);
  } finally {
    await allow(null);
    site.close();
  }
}, 60_000);

/** What axe finds: the rule and the elements that break it. */
async function violationsOn(page: Page): Promise<unknown> {
  await page.evaluate(axe);
  return page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`,
  );
}

/** Where an element is on the screen, px from its top. */
async function topOf(element: Locator): Promise<number> {
  return (await element.boundingBox())?.y ?? Number.NaN;
}

function styleOf(element: Locator, property: string, pseudo?: string): Promise<string> {
  return element.evaluate(
    (one, [name, part]) => one.ownerDocument.defaultView.getComputedStyle(one, part).getPropertyValue(name),
    [property, pseudo] as const,
  );
}

/** One content at every depth. */
function tree(content: string | null | undefined) {
  const shown = { title: 'A part', content: JSON.parse(content ?? 'null') };
  const step = { ...shown, node_type: 'step', children: [{ ...shown, node_type: 'sub_step' }] };
  return [
    { ...shown, node_type: 'section', children: [step, { ...step, title: 'Another' }] },
    { title: 'An empty one', node_type: 'section' },
  ];
}

const cells = (type: string) =>
  Array.from({ length: 16 }, (_, at) => ({ type, content: [paragraph(`Column ${at} of many`)] }));

function paragraph(text: string) {
  return { type: 'paragraph', content: [{ type: 'text', text }] };
}

const unwieldy = {
  title: 'W'.repeat(300),
  version: 'v'.repeat(64),
  department: 'd'.repeat(100),
  nodes: [
    {
      node_type: 'section',
      title: 'M'.repeat(300),
      content: {
        type: 'doc',
        content: [
          paragraph('x'.repeat(5_000)),
          { type: 'codeBlock', content: [{ type: 'text', text: 'y'.repeat(2_000) }] },
          {
            type: 'table',
            content: ['tableHeader', 'tableCell'].map((type) => ({ type: 'tableRow', content: cells(type) })),
          },
          nested(['blockquote'], paragraph('q'.repeat(500))),
          nested(['bulletList', 'listItem'], paragraph('l'.repeat(500))),
        ],
      },
      children: [{ node_type: 'step', title: 'Long '.repeat(60).trim() }],
    },
  ],
};

/** As deep as rich text may be. */
function nested(types: string[], content: object, depth = 30): object {
  if (depth <= 0) return content;
  const inner = nested(types, content, depth - types.length);
  return types.reduceRight((held, type) => ({ type, content: [held] }), inner);
}
