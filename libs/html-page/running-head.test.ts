/** Tests of the style sheet that identifies printed pages. */
import { describe, expect, test } from '@jest/globals';
import { style } from '#libs/rich-text';
import { attacks } from '../../tests/rich-text/attacks.ts';
import { getPageLanguage } from './language.ts';
import { cssString, runningHead } from './running-head.ts';

const published_at = new Date('2026-11-21T09:30:00.000Z');
const getCss = (more: object = {}, tag = 'en') =>
  runningHead({
    document: { title: 'Opening the vault', version: '2.1', status: 'published', published_at, ...more },
    organization: 'Acme',
    language: getPageLanguage(tag),
  });

describe('the head of printed pages', () => {
  test('has title, version and status above, the page number below', () => {
    expect(getCss()).toBe(
      '@page{@top-left{content:"Opening the vault";font-weight:600;width:65%}' +
        '@top-right{content:"Version 2\\2e 1""\\a ""Published 21 November 2026";width:35%}' +
        '@bottom-left{content:"Acme \\b7  Printed copies are not updated"}' +
        '@bottom-right{content:"Page "counter(page)" of "counter(pages)}}',
    );
  });

  test('has the words and the date of the language', () => {
    expect(getCss({}, 'de-AT')).toContain('"Veröffentlicht 21\\2e  November 2026"');
    expect(getCss({}, 'fr')).toContain('"Page "counter(page)" sur "counter(pages)');
  });

  test('is mirrored in languages that are written from right to left', () => {
    expect(getCss({}, 'ar')).toMatch(
      /@top-right\{content:"Opening .*@top-left\{.*@bottom-left\{content:"Page "/,
    );
  });

  test('isolates its parts where the words are in another language', () => {
    expect(getCss({}, 'ar')).toMatch(/"Published \\2068 21 .*2026\\2069 "/);
    expect(getCss({}, 'ar')).toContain(
      '"\\2068 Acme\\2069  \\b7  \\2068 Printed copies are not updated\\2069 "',
    );
    expect(getCss({}, 'de')).not.toContain('2068');
  });

  test.each([
    ['draft', 'en', '"Version 2\\2e 1""\\a ""Draft"'],
    ['archived', 'de', '"Version 2\\2e 1""\\a ""Archiviert"'],
  ])('says that a document is not the published one: %s', (status, tag, lines) => {
    expect(getCss({ status }, tag)).toContain(`@top-right{content:${lines};width:35%}`);
  });

  test('omits a missing version and the end of a very long title', () => {
    const css = getCss({ title: '💊'.repeat(300), version: null });
    expect(css).toContain('@top-right{content:"Published 21 November 2026";width:35%}');
    expect(css.match(/\\1f48a /g)).toHaveLength(179);
    expect(css).toContain('\\2026 "');
  });
});

describe('a CSS string', () => {
  test('contains no character with a meaning in CSS or HTML', () => {
    for (const attack of [...attacks, '"}</style><script>\\22 @import url(//x)/*\n\r\f\0']) {
      const written = cssString(attack);
      expect(written).toMatch(/^"(?:[ \p{L}\p{N}]|\\[0-9a-f]{1,6} )*"$/u);
      expect(() => style(written)).not.toThrow();
    }
  });

  test('has every character of the text', () => {
    const text = 'Größe "1" \\ 日本 <b> 💊\u202e';
    const read = cssString(text)
      .slice(1, -1)
      .replaceAll(/\\([0-9a-f]+) /g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
    expect(read).toBe(text);
  });
});
