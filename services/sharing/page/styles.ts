/** The style sheets of the pages as `<style>` elements, and the CSP sources that allow them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { style } from '#libs/rich-text';

/** Joins style sheets and removes comments and line breaks. */
const sheet = (...names: string[]) =>
  names
    .map((name) => readFileSync(new URL(`${name}.css`, import.meta.url), 'utf8'))
    .join('')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const pageSheet = sheet('base', 'document', 'rich-text', 'colors', 'wide', 'print');
const noticeSheet = sheet('base', 'notice');

/** The `<style>` element of a document page. */
export const pageStyle = style(pageSheet);

/** The `<style>` element of a notice page. */
export const noticeStyle = style(noticeSheet);

/** The `style-src` source of a document page. */
export const pageStyleSource = toHashSource(pageSheet);
/** The `style-src` source of a notice page. */
export const noticeStyleSource = toHashSource(noticeSheet);

function toHashSource(css: string): string {
  return `'sha256-${createHash('sha256').update(css).digest('base64')}'`;
}
