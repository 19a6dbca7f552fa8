/** Compares the page of a GitHub Markdown renderer with our own HTML of the same rich text. */
import { expect } from '@jest/globals';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { toMarkdown } from '../../libs/markdown/markdown.ts';
import { toGfm } from '../../libs/rich-text/gfm.ts';
import { toHtml } from '../../libs/rich-text/html.ts';
import { createRichText } from './gfm-fuzz.ts';
import { createRandom } from './hostile.ts';

/** Tags that a renderer may write for our Markdown. */
const tags = new Set([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'blockquote', 'hr', 'ul', 'ol', 'li', 'input', 'br'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td', 'a', 'img', 'strong', 'em', 'del', 'code', 'sub', 'sup'],
]);

/** The HTML of Markdown as a renderer writes it that lets all tags and addresses through. */
export function renderGfm(markdown: string): string {
  return micromark(markdown, {
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
}

/** Checks that `count` random trees show the same text in both, and only expected tags and addresses. */
export function checkHtml(count: number, seed: number): void {
  const random = createRandom(seed);
  for (let at = 0; at < count; at += 1) {
    const tree = createRichText(random, { hasBlocksInCells: false });
    const markdown = toMarkdown(toGfm(tree));
    const html = renderGfm(markdown);
    const [actual, expected] = [getText(html), getText(toHtml(tree))];
    // calls expect only on a difference, because thousands of calls would be slow
    if (actual !== expected) expect({ at, markdown, actual }).toEqual({ at, markdown, actual: expected });
    const unsafe = findUnsafe(html);
    if (unsafe.length > 0) expect({ at, markdown, unsafe }).toEqual({ at, markdown, unsafe: [] });
  }
}

/** Tags that we never write, and addresses of other kinds than links and embedded pictures have. */
export function findUnsafe(html: string): string[] {
  const found = [...html.matchAll(/<\/?([^\s>/]*)/g)].filter(([, name = '']) => !tags.has(name));
  const targets = [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].filter(
    ([, target = '']) => !/^(?:https?:|mailto:|data:image\/(?:png|jpeg|gif|webp);base64,)/i.test(target),
  );
  return [...found, ...targets].map(([tag]) => tag);
}

const entities = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&amp;', '&'],
]);

/** The text of HTML without white space; an alert's kind counts as its signal word. */
function getText(html: string): string {
  const text = html
    .replaceAll('[!CAUTION]\n<strong>DANGER</strong>', 'DANGER')
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities.get(entity) ?? entity);
  return text
    .replace(/\s+/g, '')

    .replace(/\[!([A-Z]+)\]/g, '$1');
}
