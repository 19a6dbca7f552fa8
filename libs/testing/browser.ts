/** Provides a real browser for tests; uses an installed one if possible and installs one otherwise. */
import type { Browser } from 'playwright-core';
import { installPackage, printLine } from './debian.ts';
import { findExecutable, findOnPath } from './program.ts';

/**
 * Starts a headless Chromium: the program in CHROMIUM_PATH, else one on the PATH or in a default location,
 * else the distribution's package, which is installed now. Prints which one to stderr. The caller must
 * `close()` it.
 */
export async function testBrowser(): Promise<Browser> {
  const path = (await findBrowser()) ?? (await installBrowser());
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: path, args: flags });
  printLine(`Browser for the tests: ${path}, ${browser.version()}.`);
  return browser;
}

/** Disables background requests, and the sandbox, which root cannot use; tests load only their own pages. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const defaultPaths = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

async function findBrowser(): Promise<string | undefined> {
  return process.env.CHROMIUM_PATH || (await findOnPath(...names)) || findExecutable(defaultPaths);
}

async function installBrowser(): Promise<string> {
  await installPackage('chromium', 'Browser for the tests');
  const path = await findBrowser();
  if (path) return path;
  throw new Error(
    'The tests need a browser. Install Chromium or Chrome, or set CHROMIUM_PATH to its program.',
  );
}
