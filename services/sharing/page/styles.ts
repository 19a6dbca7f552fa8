/** The style sheets of the pages, as elements, and the sources that a policy must allow for them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { style } from '#libs/rich-text';

/** Style sheets as one, without their comments and line ends. */
const sheet = (...names: string[]) =>
  names
    .map((name) => readFileSync(new URL(`${name}.css`, import.meta.url), 'utf8'))
    .join('')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const pageSheet = sheet('base', 'document', 'rich-text', 'wide', 'print');
const noticeSheet = sheet('base', 'notice');

/** The style of a document's page. */
export const pageStyle = style(pageSheet);

/** The style of the small page that is shown instead of a document. */
export const noticeStyle = style(noticeSheet);

/** What `style-src` must name for either. */
export const pageStyleSource = sourceOf(pageSheet);
export const noticeStyleSource = sourceOf(noticeSheet);

function sourceOf(css: string): string {
  return `'sha256-${createHash('sha256').update(css).digest('base64')}'`;
}
