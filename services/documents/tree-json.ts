/** Trees as bytes of JSON: stored rich text is spliced in as the JSON text that it is, and nobody waits while a huge tree is put together. */
import { setImmediate } from 'node:timers/promises';
import { toSummary } from './presenters.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';

/** Nodes as they come, in no order. */
export type Batches = AsyncIterable<readonly NodeRow[]> | Iterable<readonly NodeRow[]>;

/** A document with its tree as bytes of JSON. */
export async function documentBytes(document: DocumentRow, batches: Batches): Promise<Buffer> {
  const turn = turns();
  const leaves: Leaf[] = [];
  for await (const batch of batches)
    for (const node of batch) {
      const leaf = leafOf(node);
      leaves.push(leaf);
      if (turn.isOver(leaf.text.length)) await setImmediate();
    }
  const before = `${JSON.stringify(toSummary(document)).slice(0, -1)},"nodes":[`;
  return joined(before, branches(null, familiesOf(leaves)), ']}');
}

/** A node with what lies below it as bytes of JSON. */
export function nodeBytes(node: NodeRow, below: readonly NodeRow[] = []): Promise<Buffer> {
  const all = [{ leaf: leafOf(node), level: 0 }, ...branches(node._id, familiesOf(below.map(leafOf)), 1)];
  return joined('', all, '');
}

/** Other requests have their turn after so many nodes or bytes. */
const turnNodes = 250;
const turnBytes = 512 * 1024;

function turns() {
  let nodes = 0;
  let bytes = 0;
  return {
    /** Whether this one, of so many bytes, is the last of a turn. */
    isOver(size: number): boolean {
      nodes += 1;
      bytes += size;
      if (nodes < turnNodes && bytes < turnBytes) return false;
      nodes = 0;
      bytes = 0;
      return true;
    },
  };
}

/**
 * What a tree is put together from. The text is kept as bytes, outside of the heap: ten thousand rows in it would keep the garbage
 * collector, and with it everybody, busy for longer than all the rest.
 */
interface Leaf {
  _id: string;
  parent_id: string | null;
  order: number;
  /** The node up to its list of children, which stays open. */
  text: Buffer;
}

function leafOf(node: NodeRow): Leaf {
  const { _id, document_id, parent_id, node_type, title, order, created_by } = node;
  const before = JSON.stringify({ id: _id, document_id, parent_id, node_type, title }).slice(0, -1);
  const times = { created_at: node.created_at.toISOString(), updated_at: node.updated_at.toISOString() };
  const after = JSON.stringify({ order, created_by, ...times }).slice(1, -1);
  const text = Buffer.from(`${before},"content":${node.content ?? 'null'},${after},"children":[`);
  return { _id, parent_id, order, text };
}

/** A node and how deep it stands. */
interface Branch {
  leaf: Leaf;
  level: number;
}

type Families = ReadonlyMap<string | null, Leaf[]>;

function familiesOf(leaves: readonly Leaf[]): Families {
  return Map.groupBy(leaves, ({ parent_id }) => parent_id);
}

/** What stands below a parent in the order of reading: each node is followed by its children. */
function branches(parent: string | null, families: Families, level = 0, found: Branch[] = []): Branch[] {
  for (const leaf of families.get(parent)?.sort(bySiblingOrder) ?? []) {
    found.push({ leaf, level });
    branches(leaf._id, families, level + 1, found);
  }
  return found;
}

/** Siblings sort by order, ties by creation (ids are ordered by time). */
function bySiblingOrder(a: Leaf, b: Leaf): number {
  return a.order - b.order || (a._id < b._id ? -1 : 1);
}

/** Branches one after the other: each ends the nodes before it that it does not stand in. */
async function joined(before: string, all: readonly Branch[], after: string): Promise<Buffer> {
  const parts: Buffer[] = [Buffer.from(before)];
  let depth = -1;
  for (const { leaf, level } of all) {
    if (level <= depth) parts.push(Buffer.from(`${']}'.repeat(depth - level + 1)},`));
    parts.push(leaf.text);
    depth = level;
  }
  parts.push(Buffer.from(']}'.repeat(depth + 1) + after));
  const whole = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
  const turn = turns();
  let at = 0;
  for (const part of parts) {
    at += part.copy(whole, at);
    if (turn.isOver(part.length)) await setImmediate();
  }
  return whole;
}
