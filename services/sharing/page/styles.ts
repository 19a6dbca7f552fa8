/** The style sheets of the pages as `<style>` elements, and the CSP sources that allow them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { style } from '#libs/rich-text';

/** Joins style sheets and removes comments, line breaks and spaces beside punctuation. */
const sheet = (...names: string[]) =>
  names
    .map((name) => readFileSync(new URL(`${name}.css`, import.meta.url), 'utf8'))
    .join('')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .replaceAll(/: /g, ':')
    .replaceAll(';}', '}')
    .trim();

const pageSheet = sheet(
  'base',
  'document',
  'contents',
  'rich-text',
  'colors',
  'table',
  'callout',
  'wide',
  'print',
);
const noticeSheet = sheet('base', 'notice');
const passwordSheet = sheet('base', 'notice', 'password');
const acknowledgementSheet = sheet('acknowledgement');

/** The `<style>` element that all document pages have. */
export const pageStyle = style(pageSheet);

/** The `<style>` element of a notice page. */
export const noticeStyle = style(noticeSheet);

/** The `<style>` element of the page that asks for a password. */
export const passwordStyle = style(passwordSheet);

/** The `<style>` element that a page for one reader adds. */
export const acknowledgementStyle = style(acknowledgementSheet);

/** The `style-src` source of the style sheet that all document pages have. */
export const pageStyleSource = toHashSource(pageSheet);
/** The `style-src` source of a notice page. */
export const noticeStyleSource = toHashSource(noticeSheet);
/** The `style-src` source of the page that asks for a password. */
export const passwordStyleSource = toHashSource(passwordSheet);

/** The `style-src` source of the style sheet that a page for one reader adds. */
export const acknowledgementStyleSource = toHashSource(acknowledgementSheet);

/** The `style-src` source that allows one style sheet. */
export function toHashSource(css: string): string {
  return `'sha256-${createHash('sha256').update(css).digest('base64')}'`;
}
