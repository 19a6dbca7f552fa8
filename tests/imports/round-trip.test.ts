/** Property: our Markdown and HTML exports import with the same titles, levels, facts and words. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RichText } from '#libs/rich-text';
import { convertFile } from '../../services/documents/imports/conversion.ts';
import type { TreeInput } from '../../services/documents/shapes.ts';
import type { ExportNode } from '../../services/export/formats/document.ts';
import { br, doc, li, link, node, nodeWith, p, text } from '../fixtures/generators/rich-text.ts';
import { type ExportInput, exportHtml, exportMarkdown } from './exports.ts';
import { parseBlocks } from './outline.ts';

/** Words with what Markdown and HTML could read as markup. They begin with a letter, so that no title is a number. */
const word = fc.constantFrom(
  ...[
    'Valve',
    'pump*',
    'a_b_c',
    '<b>',
    '&amp;',
    '[x]',
    '`code`',
    'Überdruck',
    '弁',
    'x|y',
    '#1',
    '~~no~~',
    '![i](u)',
  ],
  ...['http://a.example/b', 'www.a.example', 'a@b.example', '\\', '$5', '* * *', '---', '>', '- [ ]', '🙂'],
);
const words = fc.array(word, { minLength: 1, maxLength: 6 }).map((list) => list.join(' '));
const title = words.map((value) => `Part ${value}`);
const inline = fc.oneof(
  words.map((value) => text(value)),
  words.map((value) => text(value, 'bold')),
  words.map((value) => text(value, 'italic', 'strike')),
  words.map((value) => text(value, link('https://example.com/a'))),
);
const paragraph = fc.array(inline, { minLength: 1, maxLength: 3 }).map((leaves) => p(...leaves));
const cell = words.map((value) => node('tableCell', p(value)));
const block: fc.Arbitrary<RichText> = fc.oneof(
  paragraph,
  fc.tuple(words, words).map(([a, b]) => p(a, br, b)),
  fc
    .array(
      words.map((value) => li(value)),
      { minLength: 1, maxLength: 3 },
    )
    .map((items) => node('bulletList', ...items)),
  fc
    .array(
      words.map((value) => li(value)),
      { minLength: 1, maxLength: 3 },
    )
    .map((items) => node('orderedList', ...items)),
  words.map((value) => node('taskList', nodeWith('taskItem', { checked: true }, p(value)))),
  words.map((value) => node('blockquote', p(value))),
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), words)
    .map(([level, value]) => nodeWith('heading', { level }, value)),
  words.map((value) => nodeWith('callout', { kind: 'warning' }, p(value))),
  fc
    .tuple(cell, cell, cell, cell)
    .map(([a, b, c, d]) => node('table', node('tableRow', a, b), node('tableRow', c, d))),
);
const content = fc.option(fc.array(block, { minLength: 1, maxLength: 3 }).map((blocks) => doc(...blocks)));

const createNodes = (
  node_type: ExportNode['node_type'],
  children: fc.Arbitrary<ExportNode[]>,
  minLength = 0,
) =>
  fc.array(fc.record({ id: fc.constant(''), node_type: fc.constant(node_type), title, content, children }), {
    minLength,
    maxLength: 3,
  });
const sections = createNodes('section', createNodes('step', createNodes('sub_step', fc.constant([]))), 1);
const document = fc.record({
  title,
  version: fc.option(
    fc.constantFrom('1.0', '2.1 draft', 'www.example.com', 'https://a.example/b_c', 'control is a tool.'),
  ),
  department: fc.option(fc.constantFrom('Assembly', 'R & D', 'a_b@example.com', 'managers approve changes.')),
  nodes: sections,
});

interface Shape {
  type: string;
  title: string;
  words: string;
  children: Shape[];
}

/** The letters and digits of a text: the export writes some spaces and marks differently on purpose. */
const toWords = (value: string) => value.replace(/[^\p{L}\p{N}]+/gu, '');
const getText = ({ text: own = '', content: children = [] }: RichText): string =>
  own + children.map(getText).join(' ');

function toShape(node: ExportNode | TreeInput, getWords: (node: ExportNode | TreeInput) => string): Shape {
  const children = (node.children ?? []).map((child) => toShape(child, getWords));
  return { type: node.node_type, title: toWords(node.title), words: getWords(node), children };
}

/** Signal words and targets of links, which plain Markdown writes as text. */
const written = /WARNING|httpsexamplecoma/g;
const clean = (value: string) => toWords(value).replace(written, '');

/** Expects that a file imports as the document from which it was exported. */
async function expectImport(name: string, file: string | Uint8Array, input: ExportInput): Promise<void> {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
  const result = await convertFile({ name, bytes, acceptChanges: false });
  if (!result.ok) throw new Error(result.fault.message);
  const [imported] = result.file.documents;
  expect(toWords(imported?.title ?? '')).toBe(toWords(input.title));
  expect(imported).toMatchObject({ version: input.version, department: input.department });
  const before = input.nodes.map((node) =>
    toShape(node, (each) => clean(getText((each.content as RichText | null) ?? doc()))),
  );
  const after = imported?.nodes.map((node) =>
    toShape(node, (each) =>
      clean(
        parseBlocks(each.content as string | null)
          .map(getText)
          .join(' '),
      ),
    ),
  );
  expect(after).toEqual(before);
}

test.each(['plain', 'gfm'] as const)(
  'Markdown in the flavor %s imports with the same titles and words',
  async (flavor) => {
    await fc.assert(
      fc.asyncProperty(document, async (input) => {
        await expectImport('a.md', exportMarkdown(input, flavor), input);
      }),
      { numRuns: 150 },
    );
  },
);

test('a document is the same after an export as GFM and its import', async () => {
  const list = node('bulletList', li('a', p('[x] b'), node('blockquote', p('[!NOTE]', br, 'c'))));
  const blocks = [
    ...['Tools #', 'More', 'C \\#'].map((value, at) =>
      nodeWith('heading', { level: at === 1 ? 2 : 1 }, value),
    ),
    ...['https://a.example/*b*', '<https://b.example>', '<c@d.example>'].map((value) => p(value)),
    node('blockquote', p('[!NOTE]', br, 'd'), p('e')),
    node('blockquote', p('[!WARNING] f')),
    nodeWith('callout', { kind: 'note' }, p('[!NOTE] g')),
    list,
  ];
  const create = (node_type: ExportNode['node_type'], children: ExportNode[] = []): ExportNode => ({
    ...{ id: '', node_type, title: `A ${node_type}`, content: doc(...blocks), children },
  });
  for (const tree of [create('section'), create('section', [create('step', [create('sub_step')])])]) {
    const input = { title: 'T', version: 'control saves time.', department: null, nodes: [tree] };
    const markdown = exportMarkdown(input, 'gfm');
    const bytes = new TextEncoder().encode(markdown);
    const result = await convertFile({ name: 'a.md', bytes, acceptChanges: false });
    if (!result.ok) throw new Error(result.fault.message);
    const [imported] = result.file.documents;
    expect(imported).toMatchObject({ title: 'T', version: input.version, department: null });
    const read = ({ title, content, children = [] }: TreeInput | ExportNode): unknown => ({
      ...{ title, content: typeof content === 'string' ? parseBlocks(content) : content?.content },
      children: children.map(read),
    });
    expect(imported?.nodes.map(read)).toEqual([read(tree)]);
  }
});

test('HTML files import with the same titles, numbers and words', async () => {
  await fc.assert(
    fc.asyncProperty(document, fc.boolean(), async (input, hasNumbers) => {
      const numbered = hasNumbers ? { ...input, nodes: addNumbers(input.nodes) } : input;
      await expectImport('a.html', exportHtml(numbered), numbered);
    }),
    { numRuns: 150 },
  );
});

/** Types a number before each title, and adds a heading to each text. */
function addNumbers(nodes: readonly ExportNode[]): ExportNode[] {
  return nodes.map((each, at) => ({
    ...each,
    title: `${at + 1}. ${each.title}`,
    content: doc(nodeWith('heading', { level: 1 }, 'Scope'), p('All sites')),
    children: addNumbers(each.children),
  }));
}
