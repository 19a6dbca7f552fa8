/** Tests that the declared nodes and marks, from which docs and warnings are made, agree with the renderers. */
import { expect, test } from '@jest/globals';
import { p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { toMarkdown } from '../markdown/markdown.ts';
import { findFaults } from './faults.ts';
import { toGfm } from './gfm.ts';
import { toHtml } from './html.ts';
import { knownMarks } from './known-marks.ts';
import { knownNodes } from './known-nodes.ts';
import { toMdast } from './mdast.ts';
import { findKnownMark, findKnownNode } from './names.ts';
import { toPlainText } from './text.ts';
import { type RichText, walk } from './tree.ts';
import { isTextblock, toWellFormed } from './well-formed.ts';

const nodes = knownNodes.map((known) => [known.type, known] as const);
const marks = knownMarks.map((known) => [known.type, known] as const);
const writeMarkdown = (content: RichText) => toMarkdown(toMdast(content));
/** The words of a text, without the separators that Markdown adds. */
const toWords = (value: string) => value.match(/[\p{L}\d]+/gu) ?? [];
const html = ({ html: opening = '' }: { html?: string }) => new RegExp(`${opening}[ />]`);

test.each(nodes)('the node %s is rendered as declared', (type, known) => {
  const { example } = known;
  expect(findFaults(example)).toEqual([]);
  expect([...walk(example)].some(({ node }) => node.type === type)).toBe(true);
  expect(toHtml(example)).toMatch(html(known));
  expect(toWords(writeMarkdown(example)).join(' ')).toContain(toWords(toPlainText(example)).join(' '));
  expect(writeMarkdown(example) === '').toBe(known.markdown === 'nothing');
});

test.each(marks)('the mark %s is rendered as declared', (_, known) => {
  const content = p('a ', text('words', known.example), ' b');
  expect(findFaults(content)).toEqual([]);
  expect(toHtml(content)).toMatch(html(known));
  expect(writeMarkdown(content)).toMatch(/^a words (\(https:\/\/example\.com\/\) )?b$/);
});

test.each([...nodes, ...marks.map(([type, known]) => [type, known] as const)])(
  'GitHub Flavored Markdown shows %s as declared',
  (type, { example, gfm }) => {
    const content = findKnownNode(type) ? example : p('a ', text('words', example), ' b');
    const isSame = toMarkdown(toGfm(content)) === writeMarkdown(content);
    // rows and items have no form of their own: in a table or list, they have that of their parent
    expect([type, isSame]).toEqual([type, gfm === undefined]);
  },
);

/** Well-formedness puts these around their children anyway. */
const implied = ['paragraph', 'listItem', 'tableRow', 'tableCell'];

test('a node of another type is not rendered like a declared one', () => {
  for (const { example, html: opening, type } of knownNodes) {
    if (opening === undefined || implied.includes(type)) continue;
    const renamed = JSON.parse(JSON.stringify(example).replaceAll(`"type":"${type}"`, '"type":"unknown"'));
    expect([type, toHtml(renamed)]).not.toEqual([type, toHtml(example)]);
  }
});

/** Sets an attribute of the first node of this type in a tree. */
function setAttribute(example: RichText, type: string, name: string, value: unknown): RichText {
  const copy = structuredClone(example);
  const target = [...walk(copy)].find(({ node }) => node.type === type)?.node;
  if (target) target.attrs = { ...target.attrs, [name]: value };
  return copy;
}

test.each(nodes)(
  'values of attributes that %s does not accept are ignored',
  (type, { attributes, example }) => {
    for (const [name, { accepts }] of Object.entries(attributes)) {
      for (const value of [-1, 1.5, 1e12, 'x', '2', ' Warning', {}, [1], true]) {
        if (accepts(value)) continue;
        const [written, without] = [value, null].map((each) => setAttribute(example, type, name, each));
        if (written && without)
          expect([name, value, toHtml(written)]).toEqual([name, value, toHtml(without)]);
      }
    }
  },
);

test('every node of a well-formed tree is declared', () => {
  for (const { example } of knownNodes)
    for (const { node } of walk(toWellFormed(example)))
      expect(findKnownNode(node.type)?.type).toBe(node.type);
});

test('names and aliases are unique, and aliases mean their node or mark', () => {
  for (const [known, find] of [
    [knownNodes, findKnownNode],
    [knownMarks, findKnownMark],
  ] as const) {
    const names = known.flatMap(({ type, aliases }) => [type, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const { type, aliases } of known) for (const alias of aliases) expect(find(alias)?.type).toBe(type);
  }
});

test.each(nodes)('an alias of %s is rendered like its name', (type, { aliases, example }) => {
  for (const alias of aliases) {
    const renamed = JSON.parse(JSON.stringify(example).replaceAll(`"type":"${type}"`, `"type":"${alias}"`));
    expect(toHtml(renamed)).toBe(toHtml(example));
    expect(writeMarkdown(renamed)).toBe(writeMarkdown(example));
  }
});

test('each attribute of an example has a value that is understood', () => {
  const values = [...knownNodes.flatMap(({ example }) => [...walk(example)].map(({ node }) => node))];
  for (const { type, attrs = {} } of [...values, ...knownMarks.map(({ example }) => example)]) {
    const known = findKnownNode(type) ?? findKnownMark(type);
    for (const [name, value] of Object.entries(attrs))
      expect(known?.attributes[name]?.accepts(value)).toBe(true);
  }
});

test('isTextblock holds for declared nodes only', () => {
  expect(knownNodes.filter(isTextblock).map(({ type }) => type)).toEqual([
    'paragraph',
    'heading',
    'codeBlock',
  ]);
});
