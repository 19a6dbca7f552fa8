/** The style sheet of document pages as a `<style>` element, and the CSP sources that allow it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { style } from '#libs/rich-text';
import { type RunningHead, runningHead } from './running-head.ts';

/** Reads style sheets, and removes comments, line breaks and spaces beside punctuation. */
export function readStyleSheets(...files: readonly URL[]): string {
  return files
    .map((file) => readFileSync(file, 'utf8'))
    .join('')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .replaceAll(/: /g, ':')
    .replaceAll(';}', '}')
    .trim();
}

const toFile = (name: string) => new URL(`${name}.css`, import.meta.url);

/** The style sheet that all pages begin with: fonts, colours and spaces. */
export const baseStyleSheet = toFile('base');

const pageSheet = readStyleSheets(
  baseStyleSheet,
  ...['document', 'contents', 'rich-text', 'colors', 'table', 'callout', 'wide', 'print', 'print-table'].map(
    toFile,
  ),
);

/** The `<style>` element that all document pages have. */
export const pageStyle = style(pageSheet);

const pageStyleSource = toHashSource(pageSheet);

/** The `style-src` sources of the page of a document: of the style sheet that all have, and of its running head. */
export function getStyleSources(head: RunningHead): string {
  return `${pageStyleSource} ${toHashSource(runningHead(head))}`;
}

/** The `style-src` source that allows one style sheet. */
export function toHashSource(css: string): string {
  return `'sha256-${createHash('sha256').update(css).digest('base64')}'`;
}
