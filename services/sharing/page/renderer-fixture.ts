/** A small document with every element of a page; its rendering identifies the version of the renderer. */
import { toAssetSource } from '#libs/rich-text';
import type { LinkDocument, OrganizationProfile } from '../store/public-links.ts';
import type { NodeRow } from '../store/share-tokens.ts';

const id = (last: number) => `00000000-0000-7000-8000-${String(last).padStart(12, '0')}`;
const assetId = '0'.repeat(64);
const pixel = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEAAAAALAAAAAABAAEAAAIBAAA=';

const document: LinkDocument = {
  _id: id(1),
  organization_id: id(2),
  family_id: id(1),
  title: 'A specimen & its <parts>',
  version: '1.0',
  department: 'Renderers',
  status: 'published',
  published_at: new Date(0),
  row_version: 1,
  share_epoch: 0,
};

const organization: OrganizationProfile = {
  _id: id(2),
  name: 'Specimens',
  slug: 'specimens',
  row_version: 1,
  lock_published: false,
  embed_origins: null,
};

type Tree = { type: string; attrs?: object; marks?: object[]; text?: string; content?: Tree[] };

const text = (value: string, ...marks: object[]): Tree => ({ type: 'text', text: value, marks });
const node = (type: string, ...content: Tree[]): Tree => ({ type, content });
const paragraph = (value: string): Tree => node('paragraph', text(value));
const marks = ['bold', 'italic', 'strike', 'underline', 'highlight', 'subscript', 'superscript', 'code'];

const blocks = node(
  'doc',
  { ...node('heading', text('Heading')), attrs: { level: 2 } },
  node(
    'paragraph',
    ...marks.map((type) => text(type, { type })),
    text('red', { type: 'textStyle', attrs: { color: '#c00' } }),
    text('link', { type: 'link', attrs: { href: 'https://example.com/' } }),
    { type: 'hardBreak' },
    { type: 'mention', attrs: { label: 'Ana' } },
    { type: 'inlineMath', attrs: { latex: 'p^2' } },
    { type: 'image', attrs: { src: pixel, alt: 'carried' } },
    { type: 'image', attrs: { src: 'https://example.com/a.png', alt: 'remote' } },
    { type: 'image', attrs: { src: toAssetSource(assetId), alt: 'uploaded' } },
  ),
  { ...paragraph('aligned'), attrs: { textAlign: 'center' } },
  node('blockquote', paragraph('quoted')),
  ...['danger', 'warning', 'caution', 'note'].map((kind) => ({
    ...node('callout', paragraph('labelled')),
    attrs: { kind },
  })),
  { ...node('codeBlock', text('a < b')), attrs: { language: 'ts' } },
  { type: 'horizontalRule' },
  node('bulletList', node('listItem', paragraph('item'))),
  { ...node('orderedList', node('listItem', paragraph('item'))), attrs: { start: 3, type: 'a' } },
  node('taskList', { ...node('taskItem', paragraph('task')), attrs: { checked: true } }),
  node(
    'table',
    node('tableRow', node('tableHeader', paragraph('head')), node('tableHeader', paragraph('head'))),
    node('tableRow', { ...node('tableCell', paragraph('cell')), attrs: { colspan: 2 } }),
  ),
);

const row = (options: Partial<NodeRow> & Pick<NodeRow, '_id' | 'parent_id' | 'node_type'>): NodeRow => ({
  document_id: document._id,
  title: `A ${options.node_type}`,
  content: JSON.stringify(blocks),
  asset_ids: [assetId],
  order: 0,
  ...options,
});

/** The document, its organization, a link without controls and its nodes, as a link resolves them. */
export const rendererFixture = {
  document,
  organization,
  storedToken: {},
  assets: new Map([[assetId, { width: 4, height: 3 }]]),
  rows: [
    row({ _id: id(4), parent_id: null, node_type: 'section' }),
    row({ _id: id(5), parent_id: id(4), node_type: 'step' }),
    row({ _id: id(6), parent_id: id(5), node_type: 'sub_step' }),
  ],
};

/** The same link of an organization that shows approval and review. */
export const controlledFixture = {
  ...rendererFixture,
  document: {
    ...document,
    content_hash: 'sha256:0',
    approval: { id: id(7), status: 'approved' as const, approved_at: new Date(0) },
    review_due_at: new Date(0),
  },
  organization: { ...organization, show_control: true },
};
