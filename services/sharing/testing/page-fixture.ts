/** The fixture for tests of public pages: services over a real MongoDB, a user and a real browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { AnyService } from '#libs/service';
import {
  freePorts,
  type Person,
  register,
  shareDocument,
  type TestApp,
  testApp,
  testBrowser,
} from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity, sharing } from '../../testing/services.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

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

/** Starts the services, `others` too, and the browser, and registers a user. */
export async function pageFixture(others: readonly AnyService[] = []): Promise<PageFixture> {
  const services = [identity, documents, sharing, ...others];
  const browser: Browser = await testBrowser();
  // pages name the public URL of the application, from which the browser must get their pictures
  const [port = 0] = await freePorts(1);
  const environment = { PORT: String(port), APP_URL: `http://127.0.0.1:${port}` };
  const contracts = services.map(({ contract }) => contract);
  const app = await testApp({ services, contracts, environment });
  const ada = await register(app);
  return {
    app,
    ada,
    share: async (body) => app.origin + (await shareDocument(app, ada.key, body)).path,
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

/** The violations that axe finds: each rule with its elements. */
export async function findViolations(page: Page): Promise<unknown> {
  await page.evaluate(axe);
  return page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`,
  );
}
