/** The body's markup with nothing but escaping, for one known template: what the least code would write. */
import type { Sample, SampleNode } from './sample.ts';

/** Rich text as the sample has it. */
export interface Block {
  type: string;
  text?: string;
  marks?: { type: string }[];
  content?: Block[];
}

/** Styles and lists of the corporate template. */
export const corporate = {
  headings: { section: 'AldermoorHeading1', step: 'AldermoorHeading2', sub_step: 'AldermoorHeading3' },
  quote: 'AldermoorQuote',
  table: 'AldermoorGrid',
  lists: { bulletList: ['AldermoorBullet', 2], orderedList: ['AldermoorNumber', 3] },
} as const;

/** The markup, a node at a time. */
export function* plainMarkup({ nodes }: Pick<Sample, 'nodes'>): Generator<string> {
  for (const node of nodes) {
    yield nodeMarkup(node);
    yield* plainMarkup({ nodes: node.children });
  }
}

/** Text that stands in XML. */
export function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => (sign === '&' ? '&amp;' : sign === '<' ? '&lt;' : '&gt;'));
}

function nodeMarkup({ node_type, title, content }: SampleNode): string {
  const { content: blocks = [] }: Block = JSON.parse(content);
  const heading = paragraph(style(corporate.headings[node_type]), [{ type: 'text', text: title }]);
  return heading + blocks.map((block) => blockMarkup(block)).join('');
}

function blockMarkup({ type, content = [] }: Block): string {
  switch (type) {
    case 'bulletList':
    case 'orderedList': {
      const [name, numId] = corporate.lists[type];
      const form = `${style(name)}<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${numId}"/></w:numPr>`;
      return content.map((item) => paragraph(form, item.content?.[0]?.content)).join('');
    }
    case 'blockquote':
      return content.map((inner) => paragraph(style(corporate.quote), inner.content)).join('');
    case 'table': {
      const rows = content.map(({ content: cells = [] }) => `<w:tr>${cells.map(cellMarkup).join('')}</w:tr>`);
      return `<w:tbl><w:tblPr><w:tblStyle w:val="${corporate.table}"/><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid><w:gridCol w:w="4500"/><w:gridCol w:w="4500"/></w:tblGrid>${rows.join('')}</w:tbl>`;
    }
    default:
      return paragraph('', content);
  }
}

function cellMarkup({ content = [] }: Block): string {
  const inner = content.map((one) => paragraph('', one.content)).join('');
  return `<w:tc><w:tcPr><w:tcW w:w="4500" w:type="dxa"/></w:tcPr>${inner}</w:tc>`;
}

function paragraph(form: string, leaves: Block[] = []): string {
  const runs = leaves.map(({ text = '', marks = [] }) => {
    const looks = marks.map(({ type }) => (type === 'bold' ? '<w:b/>' : '<w:i/>')).join('');
    return `<w:r>${looks && `<w:rPr>${looks}</w:rPr>`}<w:t xml:space="preserve">${escaped(text)}</w:t></w:r>`;
  });
  return `<w:p>${form && `<w:pPr>${form}</w:pPr>`}${runs.join('')}</w:p>`;
}

function style(name: string): string {
  return `<w:pStyle w:val="${name}"/>`;
}
