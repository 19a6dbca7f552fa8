/** The public interface of libs/html-page: a document as an HTML page, and as one HTML file. */
export { day, documentPage, markForeignWords, type PageAdditions, type PageInput } from './document-page.ts';
export { type FileInput, htmlFile } from './html-file.ts';
export { getPageLanguage, type PageLanguage } from './language.ts';
export type { PageControl, PageDocument, PageNode, PageNodes } from './page-document.ts';
export { pagePolicy } from './policy.ts';
export { baseStyleSheet, getStyleSources, readStyleSheets, toHashSource } from './styles.ts';
