/** Writes the body of a Word file for one known template, with the least code: markup and escaped text. */
import type { Sample, SampleNode } from './sample.ts';

/** Rich text of the sample. */
export interface Block {
  type: string;
  text?: string;
  marks?: { type: string }[];
  content?: Block[];
}

/** Styles and lists of the corporate template. */
export const corporateStyles = {
  headings: { section: 'AldermoorHeading1', step: 'AldermoorHeading2', sub_step: 'AldermoorHeading3' },
  quote: 'AldermoorQuote',
  table: 'AldermoorGrid',
  lists: { bulletList: ['AldermoorBullet', 2], orderedList: ['AldermoorNumber', 3] },
} as const;

/** Yields the markup of one node at a time. */
export function* baselineMarkup({ nodes }: Pick<Sample, 'nodes'>): Generator<string> {
  for (const node of nodes) {
    yield nodeMarkup(node);
    yield* baselineMarkup({ nodes: node.children });
  }
}

/** Escapes text for XML. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>]/g, (sign) => (sign === '&' ? '&amp;' : sign === '<' ? '&lt;' : '&gt;'));
}

function nodeMarkup({ node_type, title, content }: SampleNode): string {
  const { content: blocks = [] }: Block = JSON.parse(content);
  const heading = paragraph(style(corporateStyles.headings[node_type]), [{ type: 'text', text: title }]);
  return heading + blocks.map((block) => blockMarkup(block)).join('');
}

function blockMarkup({ type, content = [] }: Block): string {
  switch (type) {
    case 'bulletList':
    case 'orderedList': {
      const [name, numId] = corporateStyles.lists[type];
      const properties = `${style(name)}<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${numId}"/></w:numPr>`;
      return content.map((item) => paragraph(properties, item.content?.[0]?.content)).join('');
    }
    case 'blockquote':
      return content.map((inner) => paragraph(style(corporateStyles.quote), inner.content)).join('');
    case 'table': {
      const rows = content.map(({ content: cells = [] }) => `<w:tr>${cells.map(cellMarkup).join('')}</w:tr>`);
      return `<w:tbl><w:tblPr><w:tblStyle w:val="${corporateStyles.table}"/><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid><w:gridCol w:w="4500"/><w:gridCol w:w="4500"/></w:tblGrid>${rows.join('')}</w:tbl>`;
    }
    default:
      return paragraph('', content);
  }
}

function cellMarkup({ content = [] }: Block): string {
  const inner = content.map((block) => paragraph('', block.content)).join('');
  return `<w:tc><w:tcPr><w:tcW w:w="4500" w:type="dxa"/></w:tcPr>${inner}</w:tc>`;
}

function paragraph(properties: string, leaves: Block[] = []): string {
  const runs = leaves.map(({ text = '', marks = [] }) => {
    const runProperties = marks.map(({ type }) => (type === 'bold' ? '<w:b/>' : '<w:i/>')).join('');
    return `<w:r>${runProperties && `<w:rPr>${runProperties}</w:rPr>`}<w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r>`;
  });
  return `<w:p>${properties && `<w:pPr>${properties}</w:pPr>`}${runs.join('')}</w:p>`;
}

function style(name: string): string {
  return `<w:pStyle w:val="${name}"/>`;
}
