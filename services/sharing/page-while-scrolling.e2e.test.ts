/** Tests of public pages while readers scroll: the bar, the contents, and tables on phones. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { until } from '#libs/testing';
import { fillingProcedure } from './testing/filling-procedure.ts';
import { type PageFixture, pageFixture } from './testing/page-fixture.ts';

let fixture: PageFixture;
let address: string;

beforeAll(async () => {
  fixture = await pageFixture();
  address = await fixture.share(fillingProcedure);
}, 180_000);
afterAll(() => fixture?.stop());

const phone = { viewport: { width: 360, height: 740 } };
const desktop = { viewport: { width: 1280, height: 900 } };
const open = <R>(options: typeof phone, fragment: string, work: (page: Page) => Promise<R>) =>
  fixture.withPage({ ...options, javaScriptEnabled: false }, async (page) => {
    await page.goto(address + fragment);
    return work(page);
  });
const getBox = async (element: Locator) => {
  const box = await element.boundingBox();
  if (!box) throw new Error('The element has no box');
  return box;
};

describe('the bar of a public page', () => {
  test.each([
    ['a phone', phone],
    ['a desktop', desktop],
  ])('shows title and version on %s once the title has scrolled away', async (_name, options) => {
    await open(options, '', async (page) => {
      const running = page.locator('.running');
      expect(await running.isVisible()).toBe(false);
      await page.goto(`${address}#5.3`);
      await until('the bar', () => running.isVisible());
      expect(await running.innerText()).toContain('Aseptic filling');
      const version = running.locator('span').nth(1);
      expect(await version.innerText()).toBe('Version 4.2');
      const { y, x, width } = await getBox(version);
      expect(y).toBeGreaterThan(0);
      expect(y).toBeLessThan(48);
      expect(x + width).toBeLessThanOrEqual(options.viewport.width);
    });
  });

  test('leads back to the contents on a phone, which open', async () => {
    await open(phone, '#5.3', async (page) => {
      const first = page.locator('.contents a[href="#1"]');
      expect(await first.isVisible()).toBe(false);
      await page.getByRole('banner').getByRole('link', { name: 'Contents' }).click();
      await until('the contents', () => first.isVisible());
      expect((await getBox(first)).y).toBeLessThan(200);
    });
  });
});

test('the contents open the section that is in sight, and mark it', async () => {
  await open(desktop, '#5.3', async (page) => {
    const [here, elsewhere] = [
      page.locator('.contents a[href="#5.3"]'),
      page.locator('.contents a[href="#4.1"]'),
    ];
    await until('the entry', () => here.isVisible());
    expect(await elsewhere.isVisible()).toBe(false);
    expect(await page.locator('.contents a:target-current').getAttribute('href')).toBe('#5.3');
    await page.getByLabel('Steps of 4').click();
    expect(await elsewhere.isVisible()).toBe(true);
  });
});

describe('a wide table on a phone', () => {
  test('scrolls by itself, with its first column pinned and readable columns', async () => {
    await open(phone, '#5.1', async (page) => {
      const table = page.locator('.table').filter({ hasText: 'Differential pressure' });
      const first = table.getByRole('rowheader', { name: 'Differential pressure' });
      const other = table.getByRole('cell', { name: 'Pa', exact: true });
      const long = table.locator('td.long').first();
      const [firstBefore, otherBefore] = [await getBox(first), await getBox(other)];
      await table.hover();
      await until('the scrolled table', async () => {
        // a busy browser can lose the event of a wheel
        await page.mouse.wheel(150, 0);
        return (await getBox(other)).x < otherBefore.x - 100;
      });
      expect((await getBox(first)).x).toBe(firstBefore.x);
      expect((await getBox(long)).width).toBeGreaterThan(160);
      expect((await getBox(first)).width).toBeLessThan(180);
    });
  });

  test('has its heads in sight, below the bar, while the page scrolls', async () => {
    await open(phone, '#5.4', async (page) => {
      const head = page.getByRole('columnheader', { name: 'Check' });
      await page.mouse.move(180, 400);
      const row = page.getByRole('rowheader', { name: 'In-process control 20' });
      await until('the scrolled page', async () => {
        const { y } = await getBox(row);
        if (y < 320) return true;
        await page.mouse.wheel(0, y - 300);
        // a busy browser can lose the event of a wheel; two late ones would scroll too far
        await until('a scroll', async () => (await getBox(row)).y < y, 2_000).catch(() => undefined);
        return false;
      });
      const { y: top } = await getBox(head);
      expect(top).toBeGreaterThanOrEqual(47);
      expect(top).toBeLessThan(60);
    });
  });
});

test('task marks are images with names, and no control looks clickable', async () => {
  await open(desktop, '#3.2', async (page) => {
    const item = page.locator('.task-item').filter({ hasText: 'Stop the filler.' });
    expect(await item.getByRole('img', { name: 'Done', exact: true }).count()).toBe(1);
    const openItem = page.locator('.task-item').filter({ hasText: 'Record the spill' });
    expect(await openItem.getByRole('img', { name: 'Not done' }).count()).toBe(1);
    expect(await page.locator('input, button, [role=checkbox]').count()).toBe(0);
  });
});
