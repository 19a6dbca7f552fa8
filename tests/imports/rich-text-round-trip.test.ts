/** Tests that the rich text of our gfm and HTML exports comes back, apart from documented losses. */
import { expect, test } from '@jest/globals';
import { calloutKinds, type RichText } from '#libs/rich-text';
import { convertFile } from '../../services/documents/imports/conversion.ts';
import { doc, node, nodeWith, p, text } from '../fixtures/generators/rich-text.ts';
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
  const input = createInput(...blocks);
  const bytes = format === 'html' ? exportHtml(input) : Buffer.from(exportMarkdown(input, 'gfm'));
  const result = await convertFile({
    name: `a.${format === 'html' ? 'html' : 'md'}`,
    bytes,
    acceptChanges: false,
  });
  if (!result.ok) throw new Error(result.fault.message);
  const nodes = result.file.documents[0]?.nodes ?? [];
  expect(nodes).toHaveLength(1);
  return parseBlocks(nodes[0]?.content);
}

const list = node('bulletList', node('listItem', p('b')));
const callouts = calloutKinds.flatMap((kind) =>
  [[p('a')], [list], [p(text('a', 'bold')), list], [p(text('WARNING', 'bold')), p('a')]].map((content) =>
    nodeWith('callout', { kind }, ...content),
  ),
);

test.each(formats)('callouts of all kinds come back from %s', async (format) => {
  expect(await roundTrip(format, ...callouts)).toEqual(callouts);
});
