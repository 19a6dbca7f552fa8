/** Tests styles: they are found in every language, added if missing, and never changed. */
import { expect, test } from '@jest/globals';
import {
  compile,
  createDocument,
  createNode,
  createParagraph,
  docx,
  p,
  rels,
  renderParts,
  types,
  W,
  WORD_TYPE,
} from '../../../../tests/word/samples.ts';

const withStyles = (styles: string) =>
  docx(p('{{content}}'), {
    '[Content_Types].xml': types({ '/word/styles.xml': `${WORD_TYPE}.styles+xml` }),
    'word/_rels/document.xml.rels': rels(['rId1', 'styles', 'styles.xml']),
    'word/styles.xml': `<w:styles xmlns:w="${W}">${styles}</w:styles>`,
  });
const style = (id: string, name: string, more = '') =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;

test('styles are found by their built-in name in every language', async () => {
  const template = await compile(
    withStyles(style('berschrift1', 'heading 1') + style('Titel', 'Title') + style('x', 'Heading 2,H2')),
  );
  expect(template.plan.styles.heading1.id).toBe('berschrift1');
  expect(template.plan.styles.heading2.id).toBe('x');
  expect(template.plan.styles.title.id).toBe('Titel');
});

test('a missing style is added with an unused id', async () => {
  const template = await compile(withStyles(style('Heading1', 'Something else')));
  const { 'word/styles.xml': xml } = await renderParts(createDocument(), template);
  expect(template.plan.styles.heading1.id).toBe('Heading12');
  expect(xml).toContain('w:styleId="Heading12"><w:name w:val="heading 1"/>');
  expect(xml?.match(/w:name w:val="List Bullet"/g)).toHaveLength(1);
});

test('an added style has the format of the template’s text', async () => {
  const normal = style('Standard', 'Normal').replace('<w:style ', '$&w:default="1" ');
  const template = await compile(withStyles(style('Other', 'Other') + normal));
  const { 'word/styles.xml': xml } = await renderParts(createDocument(), template);
  const names = ['Title', 'heading 1', 'heading 3', 'List Bullet', 'List Number', 'Quote', 'caption'];
  for (const name of [...names, 'HTML Preformatted'])
    expect(xml).toContain(`<w:name w:val="${name}"/><w:basedOn w:val="Standard"/>`);
});

test('a style is added to one whose id has characters of markup', async () => {
  const template = await compile(withStyles(style('a&amp;&quot;b', 'heading 3')));
  const { 'word/styles.xml': xml } = await renderParts(createDocument(), template);
  expect(xml).toContain('<w:name w:val="heading 4"/><w:basedOn w:val="a&amp;&quot;b"/>');
});

test('all used styles exist even without a styles part', async () => {
  const template = await compile(docx(p('{{content}}')));
  const blocks = [
    { type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: 'h' }] },
    { type: 'blockquote', content: [createParagraph('q')] },
    { type: 'codeBlock', content: [{ type: 'text', text: 'c' }] },
    createParagraph('l', { type: 'link', attrs: { href: 'https://a.example' } }),
  ];
  const found = await renderParts(createDocument([createNode('N', blocks)]), template);
  const used = [...(found['word/document.xml'] ?? '').matchAll(/<w:[pr]Style w:val="([^"]+)"/g)].map(
    ([, id]) => id,
  );
  expect(used).toHaveLength(5);
  for (const id of used) expect(found['word/styles.xml']).toContain(`w:styleId="${id}"`);
});

test('numbering and indents are inherited; a style cycle is harmless', async () => {
  const base = style(
    'B',
    'Base',
    '<w:basedOn w:val="H"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:ind w:start="300"/></w:pPr>',
  );
  const template = await compile(
    withStyles(
      base +
        style('H', 'heading 1', '<w:basedOn w:val="B"/>') +
        style('L', 'heading 2', '<w:basedOn w:val="L"/>'),
    ),
  );
  expect(template.plan.styles.heading1).toEqual({ id: 'H', left: 300, isNumbered: true });
  expect(template.plan.styles.heading2).toEqual({ id: 'L', left: 0, isNumbered: false });
});

test('only a heading without a number is indented like its text', async () => {
  const numbered = style('H', 'heading 2', '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>');
  const step = createNode('Step', [createParagraph('text')], { node_type: 'step' });
  const render = async (styles: string) =>
    (
      await renderParts(
        createDocument([createNode('S', [], { children: [step] })]),
        await compile(withStyles(styles)),
        0.5,
      )
    )['word/document.xml'];
  expect(await render(numbered)).toContain('<w:pPr><w:pStyle w:val="H"/><w:keepNext/></w:pPr>');
  expect(await render('')).toContain('<w:pStyle w:val="Heading2"/><w:keepNext/><w:ind w:left="720"/>');
  expect(await render(numbered)).toMatch(/<w:ind w:left="720"\/><\/w:pPr><w:r><w:t[^>]*>text/);
});

test('a numbered heading 4 of the template has no number inside the text', async () => {
  const numbered = style('H', 'heading 4', '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>');
  const heading = { type: 'heading', attrs: { level: 1 }, content: [{ type: 'text', text: 'h' }] };
  const found = await renderParts(
    createDocument([createNode('N', [heading])]),
    await compile(withStyles(numbered)),
  );
  expect(found['word/document.xml']).toContain(
    '<w:pStyle w:val="H"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>',
  );
});
