/** Tests rich text in Word files: every node and mark is rendered, and unsafe links are not. */
import { expect, test } from '@jest/globals';
import type { RichText } from '#libs/rich-text';
import { dataUri, png } from '../../../../tests/rich-text/sample-images.ts';
import {
  compile,
  createDocument,
  createNode,
  createParagraph,
  docx,
  getText,
  p,
  renderParts,
} from '../../../../tests/word/samples.ts';

const text = (value: string, ...marks: string[]) => ({
  type: 'text',
  text: value,
  marks: marks.map((type) => ({ type })),
});
const para = (...content: object[]) => ({ type: 'paragraph', content: content as never });

async function render(content: object[], indentInches = 0.5, depth = 0) {
  const inner = createNode('Leaf', content as never, { node_type: depth === 0 ? 'section' : 'sub_step' });
  let node = inner;
  for (let at = 0; at < depth; at += 1) node = createNode('Parent', [], { children: [node] });
  const found = await renderParts(
    createDocument([node]),
    await compile(docx(p('{{content}}'))),
    indentInches,
  );
  return { found, xml: found['word/document.xml'] ?? '', rels: found['word/_rels/document.xml.rels'] ?? '' };
}

test.each([
  ['bold', '<w:b/><w:bCs/>'],
  ['italic', '<w:i/><w:iCs/>'],
  ['strike', '<w:strike/>'],
  ['underline', '<w:u w:val="single"/>'],
  ['highlight', '<w:highlight w:val="yellow"/>'],
  ['superscript', '<w:vertAlign w:val="superscript"/>'],
  ['subscript', '<w:vertAlign w:val="subscript"/>'],
])('the mark %s is rendered in Word', async (mark, properties) => {
  expect((await render([para(text('x', mark))])).xml).toContain(
    `<w:rPr>${properties}</w:rPr><w:t xml:space="preserve">x</w:t>`,
  );
});

test('code has a monospaced font, a highlight its own colour', async () => {
  expect((await render([para(text('x', 'code'))])).xml).toContain('w:ascii="Consolas"');
  const mark = { type: 'highlight', attrs: { color: '#fa0' } };
  expect((await render([createParagraph('x', mark)])).xml).toContain('w:fill="FFAA00"');
});

test('run properties are in schema order', async () => {
  const all = ['superscript', 'underline', 'highlight', 'strike', 'italic', 'bold', 'code'];
  const { xml } = await render([para(text('x', ...all))]);
  const order = [...(/<w:rPr>(.*?)<\/w:rPr>/.exec(xml)?.[1] ?? '').matchAll(/<w:(\w+)/g)].map(
    ([, name]) => name,
  );
  expect(order).toEqual([
    'rFonts',
    'b',
    'bCs',
    'i',
    'iCs',
    'strike',
    'noProof',
    'highlight',
    'u',
    'vertAlign',
  ]);
});

test('neighbours with one target share a link and a relationship', async () => {
  const link = { type: 'link', attrs: { href: 'https://a.example/?a=1&b="2"' } };
  const two = [
    { ...text('one'), marks: [link] },
    { ...text('two'), marks: [link, { type: 'bold' }] },
  ];
  const { xml, rels } = await render([para(...two), para(...two)]);
  expect(xml.match(/<w:hyperlink/g)).toHaveLength(2);
  expect(rels.match(/hyperlink"/g)).toHaveLength(1);
  expect(rels).toContain('Target="https://a.example/?a=1&amp;b=%222%22" TargetMode="External"');
});

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', '//a.example'])(
  'an unsafe link to %s is rendered as text',
  async (href) => {
    const { xml, rels } = await render([createParagraph('x', { type: 'link', attrs: { href } })]);
    expect(xml).not.toContain('w:hyperlink');
    expect(rels).not.toContain('External');
    expect(getText(xml)).toBe('Leaf\nx');
  },
);

test('characters that XML does not allow are removed, others escaped', async () => {
  const { xml } = await render([createParagraph('a\u0000\u000B\uFFFE\uFFFF<b>&"\uD800z')]);
  expect(xml).toContain('>a&lt;b&gt;&amp;&quot;\uFFFDz<');
});

test('a line feed is a space in text and a break in code', async () => {
  const { xml } = await render([
    para(text('a'), { type: 'hardBreak' }, text('b\nc')),
    { type: 'codeBlock', content: [text('d\n\te')] },
  ]);
  expect(xml).toContain('a</w:t></w:r><w:r><w:br/></w:r>');
  expect(xml).toContain('>b c<');
  expect(xml).toContain('>d</w:t><w:br/><w:tab/><w:t xml:space="preserve">e<');
});

test('a repeated picture is stored once and fits its column', async () => {
  const image = { type: 'image', attrs: { src: dataUri('image/png', png(4_000, 2_000)), alt: 'A "plan"' } };
  const { found, xml } = await render([para(image), para(image)]);
  expect(xml.match(/descr="A &quot;plan&quot;"/g)).toHaveLength(2);
  expect(xml).toContain('<wp:extent cx="5731510" cy="2865755"/>');
  expect(new Set(xml.match(/<wp:docPr id="\d+"/g)).size).toBe(2);
  expect(Object.keys(found).filter((name) => name.includes('media'))).toEqual(['word/media/export-1.png']);
  expect(found['[Content_Types].xml']).toContain(
    'PartName="/word/media/export-1.png" ContentType="image/png"',
  );
});

test('every paragraph with a picture has an automatic line height', async () => {
  const image = { type: 'image', attrs: { src: dataUri('image/png', png(40, 20)) } };
  const inside = (type: string, content: RichText): RichText => ({ type, content: [content] });
  const bullets = inside('bulletList', inside('listItem', para(image)));
  const tasks = inside('taskList', inside('taskItem', para(image)));
  const table = inside('table', inside('tableRow', inside('tableCell', para(image))));
  const { xml } = await render([para(image), bullets, tasks, inside('heading', image), table]);
  const paragraphs = xml.split('</w:p>').filter((paragraph) => paragraph.includes('<w:drawing>'));
  expect(paragraphs).toHaveLength(5);
  for (const paragraph of paragraphs) expect(paragraph).toContain('w:line="240" w:lineRule="auto"/>');
  expect(paragraphs.at(-1)).toContain('<w:spacing w:before="40" w:after="40" w:line="240"');
});

test('code of up to 20 lines is kept on one page', async () => {
  const code = (lines: number) => ({ type: 'codeBlock', content: [text(Array(lines).fill('x').join('\n'))] });
  expect((await render([code(20)])).xml).toContain('<w:keepLines/>');
  expect((await render([code(21)])).xml).not.toContain('<w:keepLines/>');
});

test('a picture with one given side keeps its aspect ratio', async () => {
  const image = { type: 'image', attrs: { src: dataUri('image/png', png(400, 200)), width: 100 } };
  expect((await render([para(image)])).xml).toContain(`<wp:extent cx="${100 * 9_525}" cy="${50 * 9_525}"/>`);
});

test('a picture from the web is rendered as a link', async () => {
  const { xml, rels } = await render([
    para({ type: 'image', attrs: { src: 'https://a.example/x.png', alt: 'Plan' } }),
  ]);
  expect(getText(xml)).toBe('Leaf\nPlan');
  expect(rels).toContain('Target="https://a.example/x.png" TargetMode="External"');
  expect(xml).not.toContain('w:drawing');
});

test('a linked picture that is missing has a short text', async () => {
  const link = { type: 'link', attrs: { href: 'https://a.example/' } };
  const image = (src: string) => para({ type: 'image', attrs: { src }, marks: [link] });
  const { xml } = await render([image('data:image/webp;base64,UklGRg=='), image('https://a.example/x.png')]);
  expect(getText(xml)).toBe('Leaf\n[picture]\nhttps://a.example/x.png');
});

test('a picture in code has its caption below it', async () => {
  const image = { type: 'image', attrs: { src: dataUri('image/png', png(40, 20)), title: 'Valve' } };
  const { xml } = await render([{ type: 'codeBlock', content: [image] }, para(text('a'))]);
  expect(getText(xml)).toBe('Leaf\n\nValve\na');
  expect(xml.split('</w:p>').find((each) => each.includes('<w:drawing>'))).toContain('<w:keepNext/>');
});

test('a task has a checkbox with its state', async () => {
  const task = (checked: boolean) => ({
    type: 'taskItem',
    attrs: { checked },
    content: [createParagraph('t')],
  });
  const { xml } = await render([{ type: 'taskList', content: [task(true), task(false)] }]);
  expect([...xml.matchAll(/<w14:checked w14:val="(\d)"/g)].map(([, value]) => value)).toEqual(['1', '0']);
  expect(getText(xml)).toBe('Leaf\n☒t\n☐t');
});

test('tasks are close together, and there is space below the last one', async () => {
  const item = (name: string) => ({ type: 'taskItem', content: [createParagraph(name)] });
  const { xml } = await render([{ type: 'taskList', content: ['a', 'b', 'c'].map(item) }]);
  const paragraphs = xml.split('</w:p>').filter((paragraph) => paragraph.includes('☐'));
  expect(paragraphs.map((paragraph) => paragraph.includes('<w:contextualSpacing/>'))).toEqual([
    true,
    true,
    false,
  ]);
});

test('an item that does not start with text has a bullet', async () => {
  const item = { type: 'listItem', content: [{ type: 'codeBlock', content: [text('c')] }] };
  const { xml } = await render([{ type: 'bulletList', content: [item] }]);
  expect(xml).toMatch(
    /<w:numId w:val="\d+"\/><\/w:numPr><w:ind w:left="360" w:hanging="360"\/><\/w:pPr><\/w:p>/,
  );
});

test('a callout starts with its signal word in Word', async () => {
  const callout = { type: 'callout', attrs: { kind: 'danger' }, content: [createParagraph('inside')] };
  const { xml } = await render([callout]);
  expect(getText(xml)).toBe('Leaf\n\u2002DANGER\ninside');
});

test('an unknown node is replaced by its text in Word', async () => {
  const { xml } = await render([{ type: 'panel', content: [createParagraph('inside')] }]);
  expect(getText(xml)).toBe('Leaf\ninside');
});

test('text is indented by depth and keeps one inch of width', async () => {
  expect((await render([createParagraph('x')], 0.5, 2)).xml).toMatch(
    /<w:ind w:left="1440"\/><\/w:pPr><w:r><w:t[^>]*>x</,
  );
  expect((await render([createParagraph('x')], 0, 2)).xml).not.toContain('w:ind');
  expect((await render([createParagraph('x')], 3, 2)).xml).toContain(`<w:ind w:left="${9_026 - 1_440}"/>`);
});

test('quotes and lists in quotes are indented', async () => {
  const list = { type: 'bulletList', content: [{ type: 'listItem', content: [createParagraph('b')] }] };
  const { xml } = await render([{ type: 'blockquote', content: [createParagraph('a'), list] }]);
  expect(xml).toContain('<w:pStyle w:val="Quote"/><w:ind w:left="360"/>');
  expect(xml).toContain('<w:ind w:left="720" w:hanging="360"/>');
});

test('a heading in the text is heading 4, 5 or 6 without a number', async () => {
  const heading = (level: number) => ({ type: 'heading', attrs: { level }, content: [text('h')] });
  const { xml, found } = await render([heading(1), heading(2), heading(6)]);
  expect([...xml.matchAll(/pStyle w:val="(Heading[4-6])"/g)].map(([, id]) => id)).toEqual([
    'Heading4',
    'Heading5',
    'Heading6',
  ]);
  expect(found['word/styles.xml']).toMatch(/w:styleId="Heading4">.*?<w:numId w:val="0"\/>/);
});

test('alignment and horizontal rules are rendered', async () => {
  const { xml } = await render([
    { ...createParagraph('x'), attrs: { textAlign: 'justify' } },
    { type: 'horizontalRule' },
  ]);
  expect(xml).toContain('<w:jc w:val="both"/>');
  expect(xml).toContain('<w:pBdr><w:bottom ');
});
