/** Tests the rules of the export service. */
import { describe, expect, test } from '@jest/globals';
import { buildTree, type NodeRow, toDocumentProperties, toDocumentRecord } from './rules.ts';
import type { VersionRow } from './store/records.ts';

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

  test('only a published version is approved', () => {
    const approved_at = new Date('2026-11-20T08:00:00Z');
    const approval = { id: 'r', status: 'approved' as const, approved_at };
    const get = (status: 'draft' | 'published' | 'archived') =>
      toDocumentProperties({ ...document, status, approval }, 'Acme').approved_at;
    expect(['draft', 'published', 'archived'].map((status) => get(status as 'draft'))).toEqual([
      ...[null, '2026-11-20T08:00:00.000Z', null],
    ]);
  });

  test('the properties include the organization and the publication time', () => {
    expect(toDocumentProperties(document, 'Acme')).toEqual({
      title: 'SOP',
      version: '1',
      department: null,
      approved_at: null,
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

describe('record of a version', () => {
  const names = new Map([
    ['u1', 'Ada'],
    ['u2', 'Bo'],
  ]);
  const version = (_id: string, day: number | null, more: Partial<VersionRow> = {}): VersionRow => ({
    _id,
    organization_id: 'o',
    family_id: 'v1',
    created_by: 'u1',
    editor_id: null,
    version: `${_id}.0`,
    published_at: day === null ? null : new Date(Date.UTC(2026, 10, day)),
    published_by: 'u2',
    created_at: new Date('2026-10-01T00:00:00Z'),
    updated_at: new Date('2026-10-02T00:00:00Z'),
    ...more,
  });
  // in no order, as the view returns them
  const versions = [
    version('v3', 3),
    version('v1', 1),
    version('draft', null, { editor_id: 'u2' }),
    version('v2', 2),
  ];
  const get = (_id: string, status: 'draft' | 'published' | 'archived') =>
    toDocumentRecord({ _id, status }, { versions, names }, { url: 'U', exported_at: 'E', approved_by: '' });

  test('an archived version is superseded by the version published next', () => {
    expect(get('v1', 'archived')).toMatchObject({ status: 'superseded', superseded_by: 'v2.0' });
    expect(get('v2', 'archived')).toMatchObject({ status: 'superseded', superseded_by: 'v3.0' });
    expect(get('v3', 'archived')).toMatchObject({ status: 'archived', superseded_by: '' });
    expect(get('v3', 'published')).toMatchObject({ status: 'published', superseded_by: '' });
  });

  test('the history ends with the version itself; that of a draft is complete', () => {
    const list = (record: ReturnType<typeof get>) => record?.history.map(({ version: label }) => label);
    expect(list(get('v2', 'archived'))).toEqual(['v1.0', 'v2.0']);
    expect(list(get('draft', 'draft'))).toEqual(['v1.0', 'v2.0', 'v3.0']);
  });

  test('people have names, and those who are unknown have none', () => {
    expect(get('draft', 'draft')).toMatchObject({ owner: 'Ada', editor: 'Bo', url: 'U', exported_at: 'E' });
    const strange = [version('v1', 1, { created_by: 'gone', published_by: null })];
    const record = toDocumentRecord(
      { _id: 'v1', status: 'published' },
      { versions: strange, names },
      { url: '', exported_at: '', approved_by: '' },
    );
    expect(record).toMatchObject({ owner: '', editor: '', history: [{ published_by: '' }] });
  });

  test('a document that is not among the versions has no record', () => {
    expect(get('other', 'draft')).toBeUndefined();
  });
});
