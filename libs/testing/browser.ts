/** A real browser for tests, by a chain that needs no set-up: what is there first, what must be installed last. */
import type { Browser } from 'playwright-core';
import { installPackage, printLine } from './debian.ts';
import { findExecutable, findOnPath } from './program.ts';

/**
 * A headless Chromium for tests: the program in CHROMIUM_PATH, else one on the PATH or where it usually is, else the
 * distribution's package installed now. Which one is said in one line on stderr. `close()` ends it.
 */
export async function testBrowser(): Promise<Browser> {
  const path = (await findBrowser()) ?? (await installBrowser());
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: path, args: flags });
  printLine(`Browser for the tests: ${path}, ${browser.version()}.`);
  return browser;
}

/** Root may not use Chromium's own sandbox, and the pages are ours; nothing is fetched in the background. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const usualPlaces = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

async function findBrowser(): Promise<string | undefined> {
  return process.env.CHROMIUM_PATH || (await findOnPath(...names)) || findExecutable(usualPlaces);
}

async function installBrowser(): Promise<string> {
  await installPackage('chromium', 'Browser for the tests');
  const path = await findBrowser();
  if (path) return path;
  throw new Error(
    'There is no browser for the tests: install Chromium or Chrome, or set CHROMIUM_PATH to its program.',
  );
}
