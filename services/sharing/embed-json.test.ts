/** Tests of the JSON representation of public links. */
import { describe, expect, test } from '@jest/globals';
import { EmbeddedDocument } from './contract.ts';
import { embedJson } from './embed-json.ts';
import type { DocumentState, NodeRow } from './store/share-tokens.ts';

const uuid = (last: number) => `01900000-0000-7000-8000-${String(last).padStart(12, '0')}`;

const state: DocumentState = {
  _id: uuid(1),
  organization_id: uuid(2),
  family_id: uuid(3),
  created_by: uuid(4),
  title: 'A "quoted" title',
  version: null,
  department: 'Ops',
  status: 'published',
  published_at: new Date(),
  row_version: 7,
  share_epoch: 0,
};

const node = (last: number, nodeRow: Partial<NodeRow> = {}): NodeRow => ({
  _id: uuid(last),
  document_id: state._id,
  parent_id: null,
  node_type: 'section',
  title: `Node ${last}`,
  content: null,
  order: 0,
  ...nodeRow,
});

describe('embedJson', () => {
  test('writes exactly the specified fields', () => {
    const step = node(12, { parent_id: uuid(11), node_type: 'step', order: 1.5 });
    const json = JSON.parse(embedJson(state, [step, node(11)]));
    expect(EmbeddedDocument.parse(json)).toEqual({
      id: state._id,
      title: state.title,
      version: null,
      department: 'Ops',
      status: 'published',
      nodes: [
        {
          id: uuid(11),
          node_type: 'section',
          title: 'Node 11',
          content: null,
          order: 0,
          children: [
            { id: uuid(12), node_type: 'step', title: 'Node 12', content: null, order: 1.5, children: [] },
          ],
        },
      ],
    });
    expect(Object.keys(json)).toEqual(['id', 'title', 'version', 'department', 'status', 'nodes']);
    expect(Object.keys(json.nodes[0])).toEqual(['id', 'node_type', 'title', 'content', 'order', 'children']);
  });

  test('inserts stored content unchanged', () => {
    const content = '{ "type":"doc", "$where": 1.0, "a.b":[ ] }';
    expect(embedJson(state, [node(11, { content })])).toContain(`"content":${content},`);
  });

  test('sorts siblings by order, then by creation', () => {
    const rows = [
      node(13, { order: 2 }),
      node(12, { order: -1 }),
      node(15, { order: 1 }),
      node(14, { order: 1 }),
    ];
    const { nodes } = JSON.parse(embedJson(state, rows));
    expect(nodes.map((node: { id: string }) => node.id)).toEqual([uuid(12), uuid(14), uuid(15), uuid(13)]);
  });

  test('writes valid JSON for a document without nodes', () => {
    expect(JSON.parse(embedJson(state, []))).toMatchObject({ id: state._id, nodes: [] });
  });
});
