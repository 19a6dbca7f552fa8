/** The stage for tests of public pages: services over a real MongoDB, a person who shares, and a real browser. */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type Person, register, type TestApp, testApp, testBrowser } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../identity/service.ts';
import { sharing } from '../service.ts';

/** What tests of pages stand on. */
export interface PageStage {
  here: TestApp;
  ada: Person;
  /** Publishes and shares a document; gives the address of its public link. */
  shared(body: object): Promise<string>;
  /** Opens an empty page in a browser context of its own, which is closed after the work. */
  opened<R>(options: BrowserContextOptions, work: (page: Page) => Promise<R>): Promise<R>;
  stop(): Promise<void>;
}

/** Sets the stage. */
export async function pageStage(): Promise<PageStage> {
  const services = [identity, documents, sharing];
  const browser: Browser = await testBrowser();
  const here = await testApp({ services, contracts: services.map((one) => one.contract) });
  const ada = await register(here);
  return {
    here,
    ada,
    async shared(body) {
      const as = ada.key;
      const made = await here.request('POST', '/documents', { as, body });
      if (made.status !== 201) throw new Error(JSON.stringify(made.body));
      await here.request('POST', `/documents/${made.body.id}/publish`, { as });
      const link = await here.request('POST', `/documents/${made.body.id}/share-token`, { as });
      return `${here.origin}/embed/${ada.slug}/${link.body.token}`;
    },
    async opened(options, work) {
      const context = await browser.newContext(options);
      try {
        return await work(await context.newPage());
      } finally {
        await context.close();
      }
    },
    async stop() {
      await browser.close();
      await here.stop();
    },
  };
}

/** A long procedure as people write it. */
export const sop = JSON.parse(
  readFileSync(new URL('../../../tests/fixtures/incident-response-sop.json', import.meta.url), 'utf8'),
);

/** Everything that a page does beyond showing itself, while it is there. */
export function misdeedsOf(page: Page): string[] {
  const misdeeds: string[] = [];
  page.on('console', (message) => misdeeds.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => misdeeds.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    misdeeds.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', () => misdeeds.push('popup'));
  page.on('request', (request) => {
    const isPage = request.isNavigationRequest() && request.frame() === page.mainFrame();
    if (!isPage && !request.url().startsWith('data:image/')) misdeeds.push(`request: ${request.url()}`);
  });
  return misdeeds;
}
