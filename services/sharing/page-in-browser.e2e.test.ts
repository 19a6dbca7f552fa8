/** Tests of public pages in a browser: accessibility, screen sizes, dark mode, print, keyboard, framing. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { listenLocally } from '#libs/testing';
import { rendererFixture } from './page/renderer-fixture.ts';
import {
  findViolations,
  type PageFixture,
  pageFixture,
  recordSideEffects,
  sop,
} from './testing/page-fixture.ts';

const widths = [360, 768, 1280];
const schemes = ['light', 'dark'] as const;

let fixture: PageFixture;
/** Links to the sample procedure, to a document with every element and to one with oversized content. */
let links: Record<'sop' | 'complete' | 'oversized', string>;

beforeAll(async () => {
  fixture = await pageFixture();
  links = {
    sop: await fixture.share(sop),
    complete: await fixture.share({
      title: rendererFixture.document.title,
      nodes: createNodes(rendererFixture.rows[0]?.content),
    }),
    oversized: await fixture.share(oversized),
  };
}, 180_000);
afterAll(() => fixture?.stop());

describe.each(schemes)('a public page in %s mode', (colorScheme) => {
  test.each(widths)('conforms to WCAG 2.2 AA at %i px', async (width) => {
    await fixture.withPage({ viewport: { width, height: 900 }, colorScheme }, async (page) => {
      await page.goto(links.complete);
      expect(await findViolations(page)).toEqual([]);
    });
  });
});

test('a long public page and the notice page conform to WCAG 2.2 AA', async () => {
  await fixture.withPage({ viewport: { width: 1280, height: 900 } }, async (page) => {
    for (const address of [links.sop, `${fixture.app.origin}/embed/unknown/unknown`]) {
      await page.goto(address);
      expect(await findViolations(page)).toEqual([]);
    }
  });
});

test.each(widths)('no content makes a public page wider than a screen of %i px', async (width) => {
  await fixture.withPage({ viewport: { width, height: 900 } }, async (page) => {
    for (const address of [links.oversized, links.complete, links.sop]) {
      await page.goto(address);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });
});

test('a public page needs one request and no scripts', async () => {
  await fixture.withPage({ javaScriptEnabled: false }, async (page) => {
    const sideEffects = recordSideEffects(page);
    await page.goto(links.complete, { waitUntil: 'networkidle' });
    expect(sideEffects).toEqual([]);
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
});

test('a public page follows dark mode on screen but prints light', async () => {
  await fixture.withPage({ colorScheme: 'dark' }, async (page) => {
    await page.goto(links.complete);
    const lightness = async () => {
      const color = await getStyle(page.locator('.sheet'), 'color');
      return Math.max(...[...color.matchAll(/\d+/g)].map(Number));
    };
    expect(await lightness()).toBeGreaterThan(200);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await lightness()).toBeLessThan(60);
  });
});

test('a callout keeps its symbol with the colours of the system', async () => {
  await fixture.withPage({ forcedColors: 'active' }, async (page) => {
    await page.goto(links.complete);
    const label = page.locator('.callout-label').first();
    const symbol = await getStyle(label, 'background-color', '::before');
    expect(symbol).toBe(await getStyle(label, 'color'));
    expect(symbol).not.toBe(await getStyle(label, 'background-color'));
  });
});

test('a printed public page has link targets but no controls', async () => {
  await fixture.withPage({}, async (page) => {
    await page.goto(links.sop);
    await page.emulateMedia({ media: 'print' });
    const isVisible = async (name: string) => page.locator(name).first().isVisible();
    const controls = ['.skip', '.running', '.to-contents', '.contents summary', '.on-screen'];
    expect(await Promise.all(controls.map(isVisible))).not.toContain(true);
    expect(
      await Promise.all(
        ['.masthead', 'h1', '.facts', '.contents li li', '.section', 'footer'].map(isVisible),
      ),
    ).not.toContain(false);
    const target = await getStyle(page.locator('.text a[target]').first(), 'content', '::after');
    expect(target).toContain('https://');
    const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages.length).toBeGreaterThan(5);
  });
});

describe('a public page with the keyboard', () => {
  test('the first Tab reaches a link that skips to the document', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto(links.sop);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the document');
      expect(await getTop(page.locator('.skip'))).toBeGreaterThan(0);
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('document');
    });
  });

  test('the table of contents is collapsed on small screens and links work', async () => {
    for (const width of [360, 1280])
      await fixture.withPage({ viewport: { width, height: 700 } }, async (page) => {
        await page.goto(links.sop);
        const [section, link] = ['#4', '#4.2'].map((to) => page.locator(`.contents a[href="${to}"]`));
        if (!section || !link) throw new Error('There are two links');
        expect(await section.isVisible()).toBe(width > 1000);
        if (width < 1000) await press(page, page.locator('.contents > details > summary'));
        expect(await link.isVisible()).toBe(false);
        await press(page, page.getByLabel('Steps of 4'));
        await link.focus();
        await page.keyboard.press('Enter');
        const heading = page.getByRole('heading', { name: '4.2 Move traffic away' });
        await heading.waitFor();
        expect(await getTop(heading)).toBeLessThan(120);
        expect(await page.getByRole('navigation').count()).toBe(1);
      });
  });
});

test('a node of a public page has anchors by number and by id', async () => {
  const response = await fixture.app.request('GET', new URL(links.sop).pathname);
  const node = response.body.nodes[4].children[1];
  await fixture.withPage({ viewport: { width: 1280, height: 700 } }, async (page) => {
    for (const fragment of [node.id, '5.2']) {
      await page.goto('about:blank');
      await page.goto(`${links.sop}#${fragment}`);
      const heading = page.getByRole('heading', { name: `5.2 ${node.title}` });
      expect(await getTop(heading)).toBeLessThan(120);
    }
  });
});

test('another site may frame a public page unless embed_origins excludes it', async () => {
  const { app, ada } = fixture;
  const docs = readFileSync(new URL('../../docs/embedding.md', import.meta.url), 'utf8');
  const [snippet = ''] = /<iframe.*<\/iframe>/s.exec(docs) ?? [];
  const site = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(snippet.replace(/src="[^"]*"/, `src="${links.sop}?format=html"`));
  });
  const port = await listenLocally(site);
  const allow = (embed_origins: string[] | null) =>
    app.request('PATCH', '/organization', { as: ada.token, body: { settings: { embed_origins } } });
  const isFramed = () =>
    fixture.withPage({}, async (page) => {
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
});

describe('a public page that is written from right to left', () => {
  const [command, arabic] = ['rm -rf /tmp/cache/', 'احذف الملفات المؤقتة بالأمر '];
  const code = { type: 'text', text: command, marks: [{ type: 'code' }] };
  const item = (type: string, text: string) => ({ type, content: [paragraph(text)] });
  const content = [
    { type: 'paragraph', content: [{ type: 'text', text: arabic }, code] },
    { type: 'codeBlock', content: [{ type: 'text', text: command }] },
    { type: 'bulletList', content: [item('listItem', 'Latin')] },
    { type: 'taskList', content: [item('taskItem', 'Latin')] },
    { type: 'table', content: [{ type: 'tableRow', content: [item('tableCell', '1')] }] },
    ...['left', 'right'].map((textAlign) => ({ ...paragraph('سطر'), attrs: { textAlign } })),
  ];
  const nodes = [{ node_type: 'section', title: 'تنظيف', content: { type: 'doc', content } }];
  const open = async (work: (page: Page) => Promise<void>) => {
    const address = await fixture.share({ title: 'تنظيف', language: 'ar', nodes });
    await fixture.withPage({ viewport: { width: 900, height: 700 } }, async (page) => {
      await page.goto(address);
      expect(await getStyle(page.locator('article'), 'direction')).toBe('rtl');
      await work(page);
    });
  };

  test('shows the characters of code from left to right', async () => {
    await open(async (page) => {
      for (const selector of ['p code', 'pre code']) {
        const lefts = await getCharacterLefts(page.locator(selector));
        expect([selector, lefts]).toEqual([selector, lefts.toSorted((a, b) => a - b)]);
        expect(lefts).toHaveLength(command.length);
      }
      expect(await getStyle(page.locator('pre'), 'text-align')).toBe('left');
    });
  });

  test('shows numbers at the right side of a cell', async () => {
    await open(async (page) => {
      const [cell, words] = [page.locator('td'), page.locator('td p')];
      expect(await getStyle(words, 'direction')).toBe('rtl');
      const [right = 0] = (await getCharacterLefts(words)).slice(-1);
      const box = await cell.boundingBox();
      expect(right).toBeGreaterThan((box?.x ?? 0) + (box?.width ?? 0) / 2);
    });
  });

  test('aligns text at the side of the page that the author chose', async () => {
    await open(async (page) => {
      for (const side of ['left', 'right'])
        expect(await getStyle(page.locator(`.align-${side}`), 'text-align')).toBe(side);
    });
  });

  test('shows Latin words beside their bullet or box', async () => {
    await open(async (page) => {
      const articles = await page.locator('.text').boundingBox();
      const rights = await page.locator('li p').evaluateAll((all) =>
        all.map((one) => {
          const range = one.ownerDocument.createRange();
          range.selectNodeContents(one);
          return range.getBoundingClientRect().right;
        }),
      );
      expect(rights).toHaveLength(2);
      for (const right of rights)
        expect(right).toBeGreaterThan((articles?.x ?? 0) + (articles?.width ?? 0) - 40);
    });
  });
});

/** The left edge of each character of an element's only text, px. */
function getCharacterLefts(locator: Locator): Promise<number[]> {
  return locator.evaluate((element) => {
    const range = element.ownerDocument.createRange();
    return Array.from(element.textContent, (_, at) => {
      range.setStart(element.firstChild, at);
      range.setEnd(element.firstChild, at + 1);
      return range.getBoundingClientRect().left;
    });
  });
}

/** Presses a button with the keyboard. */
async function press(page: Page, button: Locator): Promise<void> {
  await button.focus();
  await page.keyboard.press('Enter');
}

/** The distance of an element from the top of the screen, px. */
async function getTop(element: Locator): Promise<number> {
  return (await element.boundingBox())?.y ?? Number.NaN;
}

function getStyle(element: Locator, property: string, pseudo?: string): Promise<string> {
  return element.evaluate(
    (target, [name, part]) =>
      target.ownerDocument.defaultView.getComputedStyle(target, part).getPropertyValue(name),
    [property, pseudo] as const,
  );
}

/** Nodes with the same content at every level. */
/** A transparent GIF of one pixel, for the pictures of the fixture, which no organization has. */
const pixel = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

function createNodes(content: string | null | undefined) {
  const text = (content ?? 'null').replaceAll(/asset:[0-9a-f]{64}/g, pixel);
  const part = { title: 'A part', content: JSON.parse(text) };
  const step = { ...part, node_type: 'step', children: [{ ...part, node_type: 'sub_step' }] };
  return [
    { ...part, node_type: 'section', children: [step, { ...step, title: 'Another' }] },
    { title: 'An empty one', node_type: 'section' },
  ];
}

const cells = (type: string) =>
  Array.from({ length: 16 }, (_, at) => ({ type, content: [paragraph(`Column ${at} of many`)] }));

function paragraph(text: string) {
  return { type: 'paragraph', content: [{ type: 'text', text }] };
}

const oversized = {
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
          nest(['blockquote'], paragraph('q'.repeat(500))),
          nest(['bulletList', 'listItem'], paragraph('l'.repeat(500))),
        ],
      },
      children: [{ node_type: 'step', title: 'Long '.repeat(60).trim() }],
    },
  ],
};

/** Nests content as deep as rich text allows. */
function nest(types: string[], content: object, depth = 30): object {
  if (depth <= 0) return content;
  const inner = nest(types, content, depth - types.length);
  return types.reduceRight((inside, type) => ({ type, content: [inside] }), inner);
}
