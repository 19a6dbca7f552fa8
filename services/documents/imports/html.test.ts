/** Tests which HTML is rejected because its tree would be too deep or too large. */
import { expect, test } from '@jest/globals';
import { parseHtml, parseHtmlFragment } from './html.ts';

const deep = '<div>'.repeat(300);
const flatShapes = '<circle r="1"/>'.repeat(300);
const openShapes = '<circle r=1/>'.repeat(300);

test.each([
  ['the comment of a page that Word saved', `<!--[if gte mso 9]>${'<w:Lsd a="b"/>'.repeat(300)}<![endif]-->`],
  ['a comment that ends with --!>', `<!-- ${deep} --!><p>a`],
  ['shapes in SVG', `<svg><title>a</title><g>${flatShapes}</g></svg>`],
  ['shapes in SVG with a style', `<svg><style>a{}</style>${flatShapes}</svg><script>a</script>`],
  ['empty SVG', '<svg/>'.repeat(300)],
  ['MathML', `<math>${'<mspace/>'.repeat(300)}</math>`],
  ['tags in an attribute', `<p title="${deep}">a</p>`],
  ['tags in an attribute after a field', `<select></select><p title="${deep}">a</p>`],
  ['tags in a script', `<script>a = '${deep}'</script>`],
  ['CDATA in SVG', `<svg><![CDATA[${deep}]]></svg>`],
])('HTML that only looks nested is parsed: %s', (_name, html) => {
  expect(() => parseHtml(html)).not.toThrow();
  expect(() => parseHtmlFragment(html)).not.toThrow();
});

test.each([
  ['elements', deep],
  ['elements of another name space', '<x:y>'.repeat(300)],
  ['elements whose names begin like others', '<p:x/>'.repeat(300)],
  ['after a comment that ends early', `<!-->${deep}-->`],
  ['after something like a comment', `<!x <!-- >${deep}-->`],
  ['after the start of a comment in an attribute', `<p title="<!--">${deep}-->`],
  ['after the start of a comment in a text field', `<textarea><!--</textarea>${deep}-->`],
  ['after a style that is ignored', `<select><style></select>${deep}`],
  ['after a script in a script', `<script><!--<script></script><!-- </script>${deep}-->`],
  ['after the start of CDATA outside of SVG', `<![CDATA[>${deep}]]>`],
  ['after CDATA where SVG may have ended', `<svg><p></p><![CDATA[>${deep}]]>`],
  ['shapes outside of SVG', `<svg></svg>${flatShapes}`],
  ['shapes in SVG whose slash belongs to an attribute', `<svg>${openShapes}</svg>`],
  ['shapes in HTML in SVG', `<svg><foreignObject>${flatShapes}</foreignObject></svg>`],
  ['shapes after a paragraph in SVG', `<svg><p>${flatShapes}</svg>`],
  ['shapes after SVG that the end of its parent ends', `<div><svg></div>${flatShapes}`],
  ['shapes after SVG that is ignored', `<select><svg><input>${flatShapes}`],
])('HTML that is nested too deep is rejected: %s', (_name, html) => {
  expect(() => parseHtml(html)).toThrow('nested too deep');
  expect(() => parseHtmlFragment(html)).toThrow('nested too deep');
});

test('HTML whose paragraphs repeat much formatting is rejected', () => {
  const formatting = Array.from({ length: 200 }, (_, at) => `<b id="${at}">`).join('');
  expect(() => parseHtml(`<p>${formatting}${'<p>a'.repeat(1_000)}`)).toThrow('too many elements');
});
