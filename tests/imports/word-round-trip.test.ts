/** Tests that content is the same after an export as a Word file and its import. */
import { expect, test } from '@jest/globals';
import type { RichText } from '#libs/rich-text';
import { convertFile } from '../../services/documents/imports/conversion.ts';
import type { TreeInput } from '../../services/documents/shapes.ts';
import { createDefaultTemplate } from '../../services/export/formats/default-template.ts';
import { renderWord } from '../../services/export/formats/word.ts';
import { li, node, nodeWith, p } from '../fixtures/generators/rich-text.ts';
import { compile, createDocument, createNode, docx, p as paragraph } from '../word/samples.ts';
import { parseBlocks } from './outline.ts';

const task = (checked: boolean, text: string, ...more: RichText[]) =>
  nodeWith('taskItem', { checked }, p(text), ...more);
const tasks = (...items: RichText[]) => node('taskList', ...items);

const blocks = [
  tasks(task(true, 'a', tasks(task(false, 'b', tasks(task(true, 'c'))), task(false, 'd'))), task(false, 'e')),
  p('between'),
  tasks(task(false, 'f', node('bulletList', li('g'))), task(true, 'h')),
  p('between'),
  node(
    'bulletList',
    li('i', tasks(task(true, 'j'))),
    li('k', nodeWith('orderedList', { type: 'a' }, li('l', tasks(task(false, 'm'))))),
  ),
  p('between'),
  node(
    'bulletList',
    li('p', p('q'), nodeWith('orderedList', { type: 'a' }, li('r', p('s')), li('t'))),
    li('u'),
  ),
  node('orderedList', li('v', p('w'), node('bulletList', li('x', p('y')), li('z'))), li('end')),
  node('table', node('tableRow', node('tableCell', p('n')), node('tableCell', tasks(task(true, 'o'))))),
];

const findNode = (nodes: readonly TreeInput[], title: string): TreeInput | undefined =>
  nodes.flatMap((each) => [each, findNode(each.children ?? [], title)]).find((each) => each?.title === title);

test.each([
  ['the default template', createDefaultTemplate],
  ['a template without styles', () => compile(docx(paragraph('{{content}}')))],
])('lists in a Word file of %s import the same', async (_name, createTemplate) => {
  const step = createNode('Two', blocks, { node_type: 'step' });
  const document = createDocument([createNode('One', [], { children: [step] }), createNode('Three')]);
  const bytes = await renderWord(document, await createTemplate(), { indentInches: 0.5 });
  const result = await convertFile({ name: 'a.docx', bytes, acceptChanges: false });
  if (!result.ok) throw new Error(result.fault.message);
  const [imported] = result.file.documents;
  expect(parseBlocks(findNode(imported?.nodes ?? [], 'Two')?.content as string)).toEqual(blocks);
  expect(result.file.report.dropped).not.toContainEqual(expect.objectContaining({ what: 'form_control' }));
});

const text = (value: string, ...types: string[]): RichText => ({
  type: 'text',
  text: value,
  ...(types.length > 0 && { marks: types.map((type) => ({ type })) }),
});
const cells = (...texts: string[]) => node('tableRow', ...texts.map((each) => node('tableCell', p(each))));
const bothDirections = [
  node('paragraph', text('اضغط '), text('OK 2.0', 'bold'), text(' ثم (نعم)، مرتين', 'italic'), text('.')),
  node('paragraph', text('See נוהל בטיחות 12, then '), text('הבא', 'italic'), text(' 5.')),
  node('bulletList', li('פריט', node('bulletList', li('Sub item'))), li('בند 3')),
  node('orderedList', li('خطوة')),
  tasks(task(true, 'تمّ'), task(false, 'Open')),
  node('table', cells('رقم', 'SKU'), cells('1', 'מסנן 7')),
  p('۲۰۲۶ - 12'),
];

test('text of both directions is the same after an export and import', async () => {
  const template = await createDefaultTemplate();
  const exportAndImport = async (content: RichText[]) => {
    const step = createNode('خطوة 1', content, { node_type: 'step' });
    const document = createDocument([createNode('الغرض', [], { children: [step] })], { title: 'إجراء P-1' });
    const bytes = await renderWord(document, template, { indentInches: 0.5 });
    const result = await convertFile({ name: 'a.docx', bytes, acceptChanges: false });
    if (!result.ok) throw new Error(result.fault.message);
    const [imported] = result.file.documents;
    expect(imported?.title).toBe('إجراء P-1');
    const blocks = parseBlocks(findNode(imported?.nodes ?? [], 'خطوة 1')?.content as string);
    return { bytes, blocks: blocks as RichText[] };
  };
  const first = await exportAndImport(bothDirections);
  expect(first.blocks).toEqual(bothDirections);
  expect(Buffer.compare((await exportAndImport(first.blocks)).bytes, first.bytes)).toBe(0);
});
