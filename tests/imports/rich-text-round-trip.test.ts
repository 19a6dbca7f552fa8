/** Tests that the rich text of our gfm and HTML exports comes back, apart from documented losses. */
import { expect, test } from '@jest/globals';
import { calloutKinds, knownMarks, knownNodes, type RichText, toWellFormed } from '#libs/rich-text';
import { convertFile } from '../../services/documents/imports/conversion.ts';
import type { TreeInput } from '../../services/documents/shapes.ts';
import type { ExportNode } from '../../services/export/formats/document.ts';
import { encodePng } from '../fixtures/generators/png.ts';
import { doc, link, node, nodeWith, p, text } from '../fixtures/generators/rich-text.ts';
import { dataUri } from '../rich-text/sample-images.ts';
import { type ExportInput, exportHtml, exportMarkdown } from './exports.ts';
import { parseBlocks } from './outline.ts';

type Format = 'gfm' | 'html';

const formats: readonly Format[] = ['gfm', 'html'];

function createInput(...blocks: RichText[]): ExportInput {
  const section = {
    id: '',
    node_type: 'section' as const,
    title: 'A',
    content: doc(...blocks),
    children: [],
  };
  return { title: 'T', version: null, department: null, nodes: [section] };
}

/** Exports a document with one section, and returns the blocks of the section that the import creates. */
async function roundTrip(format: Format, ...blocks: RichText[]): Promise<RichText[]> {
  const nodes = await importNodes(format, createInput(...blocks));
  expect(nodes).toHaveLength(1);
  return parseBlocks(nodes[0]?.content);
}

/** Exports and imports a document. Its pictures are embedded as before. */
async function importNodes(format: Format, input: ExportInput): Promise<TreeInput[]> {
  const bytes = format === 'html' ? exportHtml(input) : Buffer.from(exportMarkdown(input, 'gfm'));
  const name = format === 'html' ? 'a.html' : 'a.md';
  const result = await convertFile({ name, bytes, acceptChanges: false });
  if (!result.ok) throw new Error(result.fault.message);
  const { documents, pictures } = result.file;
  const embed = (json: string) =>
    pictures.reduce(
      (text, { id, bytes: png }) => text.replaceAll(`asset:${id}`, dataUri('image/png', png)),
      json,
    );
  return JSON.parse(embed(JSON.stringify(documents[0]?.nodes ?? [])));
}

const address = link('https://a.example/');
const picture = {
  type: 'image',
  attrs: {
    src: dataUri(
      'image/png',
      encodePng(2, 2, () => [1, 2, 3, 255]),
    ),
  },
};
const sized = { ...picture, attrs: { ...picture.attrs, width: 5, height: 6 } };
const linked = (image: RichText): RichText => ({ ...image, marks: [address] });
const examples: [string, RichText][] = [
  ...knownNodes.map(({ type, example }): [string, RichText] => [type, type === 'image' ? sized : example]),
  ...knownMarks.map(({ type, example }): [string, RichText] => [`mark ${type}`, p(text('a', example))]),
  ['linked image', linked(sized)],
  ['linked image in a line', p('a ', linked(sized), text('b', address))],
];

/** What comes back instead of an example. A picture alone is a block. */
const inBoth: Record<string, RichText[]> = {
  heading: [nodeWith('heading', { level: 1 }, 'Tools')],
  paragraph: [p('Close the valve.')],
  taskList: [node('taskList', nodeWith('taskItem', { checked: false }, p('Checked')))],
  'mark textStyle': [p('a')],
};
const losses: Record<Format, Record<string, RichText[]>> = {
  html: {
    ...inBoth,
    image: [sized],
    'linked image': [linked(sized)],
  },
  gfm: {
    ...inBoth,
    tableCell: [node('table', node('tableRow', node('tableCell', p('Bolt'))))],
    image: [picture],
    'linked image': [linked(picture)],
    'linked image in a line': [p('a ', linked(picture), text('b', address))],
    'mark underline': [p('a')],
    'mark highlight': [p('a')],
  },
};

test.each(formats)('examples of all nodes and marks come back from %s', async (format) => {
  for (const [name, example] of examples) {
    const blocks = toWellFormed(example).content ?? [];
    const once = await roundTrip(format, ...blocks);
    expect({ [name]: once }).toEqual({ [name]: losses[format][name] ?? blocks });
    expect({ [name]: await roundTrip(format, ...once) }).toEqual({ [name]: once });
  }
});

const list = node('bulletList', node('listItem', p('b')));
const callouts = calloutKinds.flatMap((kind) =>
  [[p('a')], [list], [p(text('a', 'bold')), list], [p(text('WARNING', 'bold')), p('a')]].map((content) =>
    nodeWith('callout', { kind }, ...content),
  ),
);

const heading = (level: number, title = `Level ${level}`) => nodeWith('heading', { level }, title);
const levels = (...numbers: number[]) => doc(...numbers.map((level) => heading(level)));

test.each(formats)('a quote like an alert comes back as a quote: %s', async (format) => {
  const quote = node('blockquote', p('[!NOTE] Close it.'), list);
  expect(await roundTrip(format, quote)).toEqual([quote]);
});

test('heading levels in the text of HTML files come back', async () => {
  const quote = doc(
    heading(1),
    node('blockquote', heading(2)),
    nodeWith('callout', { kind: 'note' }, heading(3)),
  );
  const subStep: ExportNode = {
    id: '',
    node_type: 'sub_step',
    title: 'C',
    content: levels(1, 2),
    children: [],
  };
  const step: ExportNode = {
    ...subStep,
    node_type: 'step',
    title: 'B',
    content: levels(1, 2, 3),
    children: [subStep],
  };
  const section: ExportNode = {
    ...step,
    node_type: 'section',
    title: 'A',
    content: levels(1, 2, 3, 4),
    children: [step],
  };
  const other: ExportNode = { ...section, title: 'D', content: quote, children: [] };
  const nodes = await importNodes('html', { ...createInput(), nodes: [section, other] });
  const contents = [nodes[0], nodes[0]?.children?.[0], nodes[0]?.children?.[0]?.children?.[0], nodes[1]].map(
    (each) => doc(...parseBlocks(each?.content)),
  );
  expect(contents).toEqual([section, step, subStep, other].map(({ content }) => content));
});

test.each(formats)('callouts in other blocks come back from %s', async (format) => {
  const blocks = callouts.flatMap((callout) => [
    node('blockquote', callout, p('c')),
    node('bulletList', node('listItem', p('d'), callout)),
    nodeWith('callout', { kind: 'note' }, p('e'), callout),
  ]);
  expect(await roundTrip(format, ...blocks)).toEqual(blocks);
});

test.each(formats)('callouts of all kinds come back from %s', async (format) => {
  expect(await roundTrip(format, ...callouts)).toEqual(callouts);
});
