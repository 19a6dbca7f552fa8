/** The style sheets of the small pages and of the form as `<style>` elements, and the CSP sources that allow them. */
import { baseStyleSheet, readStyleSheets, toHashSource } from '#libs/html-page';
import { style } from '#libs/rich-text';

const toFile = (name: string) => new URL(`${name}.css`, import.meta.url);

const noticeSheet = readStyleSheets(baseStyleSheet, toFile('notice'));
const passwordSheet = readStyleSheets(baseStyleSheet, toFile('notice'), toFile('password'));
const acknowledgementSheet = readStyleSheets(toFile('acknowledgement'));

/** The `<style>` element of a notice page. */
export const noticeStyle = style(noticeSheet);

/** The `<style>` element of the page that asks for a password. */
export const passwordStyle = style(passwordSheet);

/** The `<style>` element that a page for one reader adds. */
export const acknowledgementStyle = style(acknowledgementSheet);

/** The `style-src` source of a notice page. */
export const noticeStyleSource = toHashSource(noticeSheet);

/** The `style-src` source of the page that asks for a password. */
export const passwordStyleSource = toHashSource(passwordSheet);

/** The `style-src` source of the style sheet that a page for one reader adds. */
export const acknowledgementStyleSource = toHashSource(acknowledgementSheet);
