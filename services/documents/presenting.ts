/** How documents and nodes look to clients; stored rich text is spliced in as the JSON text that it is. */
import { setImmediate } from 'node:timers/promises';
import type { ArchiveRecord, DocumentSummary, HistoryRecord } from './shapes.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';

/** A document without its nodes. */
export function summaryOf(row: DocumentRow): DocumentSummary {
  return {
    id: row._id,
    organization_id: row.organization_id,
    created_by: row.created_by,
    editor_id: row.editor_id,
    parent_doc_id: row.parent_doc_id,
    title: row.title,
    version: row.version,
    department: row.department,
    status: row.status,
    published_at: row.published_at?.toISOString() ?? null,
    archived_at: row.archived_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** A document as its history tells it. */
export function historyRecordOf(row: DocumentRow): HistoryRecord {
  const { status: _status, ...record } = summaryOf(row);
  return record;
}

/** A document as archiving it answers. */
export function archiveRecordOf(row: DocumentRow): ArchiveRecord {
  const { editor_id: _editor, parent_doc_id: _parent, ...record } = historyRecordOf(row);
  return record;
}

/** A document with its tree as bytes of JSON. The event loop turns meanwhile: 10,000 nodes keep nobody waiting. */
export function documentBytes(document: DocumentRow, nodes: readonly NodeRow[]): Promise<Buffer> {
  const before = `${JSON.stringify(summaryOf(document)).slice(0, -1)},"nodes":[`;
  return bytesOf(before, piecesOf(branches(null, familiesOf(nodes))), ']}');
}

/** A node with what lies below it as bytes of JSON; the event loop turns meanwhile. */
export function nodeBytes(node: NodeRow, below: readonly NodeRow[] = []): Promise<Buffer> {
  const all = [{ node, level: 0 }, ...branches(node._id, familiesOf(below), 1)];
  return bytesOf('', piecesOf(all), '');
}

/** How much text is put together before other requests have their turn: pieces, and characters. */
const turnPieces = 250;
const turnLength = 512 * 1024;

async function bytesOf(before: string, pieces: Iterable<string>, after: string): Promise<Buffer> {
  const done: Buffer[] = [];
  let text = before;
  let count = 0;
  for (const piece of pieces) {
    text += piece;
    count += 1;
    if (count < turnPieces && text.length < turnLength) continue;
    done.push(Buffer.from(text));
    text = '';
    count = 0;
    await setImmediate();
  }
  const last = Buffer.from(text + after);
  return done.length === 0 ? last : Buffer.concat([...done, last]);
}

/** A node and how deep it stands. */
interface Branch {
  node: NodeRow;
  level: number;
}

type Families = ReadonlyMap<string | null, NodeRow[]>;

function familiesOf(nodes: readonly NodeRow[]): Families {
  return Map.groupBy(nodes, ({ parent_id }) => parent_id);
}

/** What stands below a parent in the order of reading: each node is followed by its children. */
function branches(parent: string | null, families: Families, level = 0, found: Branch[] = []): Branch[] {
  for (const node of families.get(parent)?.sort(bySiblingOrder) ?? []) {
    found.push({ node, level });
    branches(node._id, families, level + 1, found);
  }
  return found;
}

/** The text of branches, a piece for each node: it ends nodes before it and leaves its own list of children open. */
function* piecesOf(all: readonly Branch[]): Generator<string> {
  let before = -1;
  for (const { node, level } of all) {
    const ended = level > before ? '' : `${']}'.repeat(before - level + 1)},`;
    yield ended + openText(node);
    before = level;
  }
  yield ']}'.repeat(before + 1);
}

function openText(node: NodeRow): string {
  const { _id: id, document_id, parent_id, node_type, title, order, created_by } = node;
  const before = JSON.stringify({ id, document_id, parent_id, node_type, title }).slice(0, -1);
  const times = { created_at: node.created_at.toISOString(), updated_at: node.updated_at.toISOString() };
  const after = JSON.stringify({ order, created_by, ...times }).slice(1, -1);
  return `${before},"content":${node.content ?? 'null'},${after},"children":[`;
}

/** Siblings sort by order, ties by creation (ids are ordered by time). */
function bySiblingOrder(a: NodeRow, b: NodeRow): number {
  return a.order - b.order || (a._id < b._id ? -1 : 1);
}
