/** Tests the rules of the export service. */
import { describe, expect, test } from '@jest/globals';
import { buildTree, type NodeRow, toDocumentProperties } from './rules.ts';

describe('exported document', () => {
  const uuid = (last: number) => `01900000-0000-7000-8000-${String(last).padStart(12, '0')}`;
  const document = {
    _id: uuid(1),
    organization_id: uuid(2),
    family_id: uuid(1),
    created_by: uuid(3),
    title: 'SOP',
    version: '1',
    department: null,
    status: 'published' as const,
    published_at: new Date('2026-11-21T09:30:00Z'),
    row_version: 1,
    share_epoch: 0,
  };
  const node = (last: number, nodeRow: Partial<NodeRow> = {}): NodeRow => ({
    _id: uuid(last),
    document_id: document._id,
    parent_id: null,
    node_type: 'section',
    title: `Node ${last}`,
    content: null,
    order: 0,
    ...nodeRow,
  });

  test('the properties include the organization and the publication time', () => {
    expect(toDocumentProperties(document, 'Acme')).toEqual({
      title: 'SOP',
      version: '1',
      department: null,
      published_at: '2026-11-21T09:30:00.000Z',
      organization: 'Acme',
    });
    expect(toDocumentProperties({ ...document, published_at: null }, 'Acme').published_at).toBeNull();
  });

  test('the tree sorts siblings by order, then id, and parses content', () => {
    const content = { type: 'doc', content: [] };
    const step = node(14, { parent_id: uuid(12), node_type: 'step', content: JSON.stringify(content) });
    const nodes = buildTree([node(13), step, node(12), node(11, { order: 5 })]);
    expect(nodes.map(({ id }) => id)).toEqual([uuid(12), uuid(13), uuid(11)]);
    const children = nodes[0]?.children.map((child) => ({ ...child, content: child.content }));
    expect(children).toEqual([{ id: uuid(14), node_type: 'step', title: 'Node 14', content, children: [] }]);
  });
});
