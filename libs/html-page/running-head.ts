/** Writes the style sheet that identifies the document on every printed page. */
import { isolate, type PageLanguage } from './language.ts';
import { getStatusWord, type PageDocument } from './page-document.ts';

/** Longer titles are cut in the head, which fits five lines; the first page has the whole title. */
const maxTitle = 180;

/** What the head and the foot of a printed page show. */
export interface RunningHead {
  document: Pick<PageDocument, 'title' | 'version' | 'status' | 'published_at'>;
  /** The organization's name. */
  organization: string;
  language: PageLanguage;
}

/**
 * The `@page` rules of a document: title, version and status at the top, organization and page number at the
 * bottom. All text is in CSS strings. The print style sheet has everything that is equal in all documents.
 */
export function runningHead({ document, organization, language }: RunningHead): string {
  const { words, direction } = language;
  const [start, end] = direction === 'rtl' ? ['right', 'left'] : ['left', 'right'];
  const [page, total] = words.page;
  const boxes = [
    [`top-${start}`, `${cssString(shorten(document.title))};font-weight:600;width:65%`],
    [`top-${end}`, `${getStatusLines(document, language).map(cssString).join('"\\a "')};width:35%`],
    [`bottom-${start}`, cssString(`${isolate(organization, language)} · ${isolate(words.copies, language)}`)],
    [`bottom-${end}`, `${cssString(`${page} `)}counter(page)${cssString(` ${total} `)}counter(pages)`],
  ];
  return `@page{${boxes.map(([box, content]) => `@${box}{content:${content}}`).join('')}}`;
}

/** The status of a draft or an archived document, else the day of its publication. */
function getStatusLines(document: RunningHead['document'], language: PageLanguage): string[] {
  const { version, published_at } = document;
  const { words, formatDay } = language;
  const published = published_at
    ? `${words.published} ${isolate(formatDay(published_at), language)}`
    : words.published;
  const status = getStatusWord(document, words) ?? published;
  return version ? [`${words.version} ${version}`, status] : [status];
}

function shorten(title: string): string {
  const characters = [...title];
  return characters.length <= maxTitle ? title : `${characters.slice(0, maxTitle - 1).join('')}…`;
}

/** Writes any text as a CSS string: everything but letters, digits and spaces becomes its code point. */
export function cssString(text: string): string {
  const escaped = text.replaceAll(
    /[^ \p{L}\p{N}]/gu,
    (character) => `\\${character.codePointAt(0)?.toString(16)} `,
  );
  return `"${escaped}"`;
}
