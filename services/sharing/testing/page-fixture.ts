/** The fixture for tests of public pages: services over a real MongoDB, a user and a real browser. */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type Person, register, type TestApp, testApp, testBrowser } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { sharing } from '../service.ts';

/** The services, a user and helpers for pages. */
export interface PageFixture {
  app: TestApp;
  ada: Person;
  /** Publishes and shares a document; returns its public link. */
  share(body: object): Promise<string>;
  /** Runs work with an empty page in a new browser context, and closes the context afterwards. */
  withPage<R>(options: BrowserContextOptions, work: (page: Page) => Promise<R>): Promise<R>;
  stop(): Promise<void>;
}

/** Starts the services and the browser, and registers a user. */
export async function pageFixture(): Promise<PageFixture> {
  const services = [identity, documents, sharing];
  const browser: Browser = await testBrowser();
  const app = await testApp({ services, contracts: services.map(({ contract }) => contract) });
  const ada = await register(app);
  return {
    app,
    ada,
    async share(body) {
      const as = ada.key;
      const created = await app.request('POST', '/documents', { as, body });
      if (created.status !== 201) throw new Error(JSON.stringify(created.body));
      await app.request('POST', `/documents/${created.body.id}/publish`, { as });
      const link = await app.request('POST', `/documents/${created.body.id}/share-token`, { as });
      return `${app.origin}/embed/${ada.slug}/${link.body.token}`;
    },
    async withPage(options, work) {
      const context = await browser.newContext(options);
      try {
        return await work(await context.newPage());
      } finally {
        await context.close();
      }
    },
    async stop() {
      await browser.close();
      await app.stop();
    },
  };
}

/** A long, realistic procedure as a request body. */
export const sop = JSON.parse(
  readFileSync(new URL('../../../tests/fixtures/incident-response-sop.json', import.meta.url), 'utf8'),
);

/**
 * Records console messages, errors, dialogs, popups and all requests of a page except its own document and
 * data images.
 */
export function recordSideEffects(page: Page): string[] {
  const sideEffects: string[] = [];
  page.on('console', (message) => sideEffects.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => sideEffects.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    sideEffects.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', () => sideEffects.push('popup'));
  page.on('request', (request) => {
    const isPage = request.isNavigationRequest() && request.frame() === page.mainFrame();
    if (!isPage && !request.url().startsWith('data:image/')) sideEffects.push(`request: ${request.url()}`);
  });
  return sideEffects;
}
