/** Compares two versions of a document, node by node and word by word. Lets other requests run every 2 ms. */
import { toPlainText } from '#libs/rich-text';
import { runInSlices, type SlicedWork } from '#libs/workers';
import type { Diff, DiffNode } from './contract.ts';
import { toSummary } from './presenters.ts';
import { toCanonicalContent } from './rules/canonical-content.ts';
import { getLineageId } from './rules/lineage.ts';
import {
  type ComparedPlace,
  findMoved,
  listPlaces,
  type NodePairs,
  type NumberedNode,
  type NumberedTree,
  numberTree,
  pairNodes,
} from './rules/tree-comparison.ts';
import { replaceText, reverseEdits, startWordDiff } from './rules/word-diff.ts';
import type { DocumentRow } from './store/collections.ts';
import type { NodeWords } from './store/tree.ts';

/** A version with what is compared of its nodes. */
export interface ComparedVersion {
  document: DocumentRow;
  nodes: readonly NodeWords[];
}

/** How the rich text of a node changed. */
type ContentChange = Pick<DiffNode, 'text' | 'format_changed'>;

const noChange: ContentChange = { text: [], format_changed: false };

/**
 * Resolves with the `Diff` as JSON. If `from` is undefined, every node is added. Moves and edits are found from the
 * version with the smaller id to the other one, so that exchanged versions give the same, reversed.
 */
export function compareDocuments(from: ComparedVersion | undefined, to: ComparedVersion): Promise<Buffer> {
  return runInSlices(compare(from, to));
}

function* compare(from: ComparedVersion | undefined, to: ComparedVersion): SlicedWork<Buffer> {
  const before = yield* numberTree(from?.nodes ?? []);
  const after = yield* numberTree(to.nodes);
  const isReversed = from !== undefined && from.document._id > to.document._id;
  const [one, other] = isReversed ? [after, before] : [before, after];
  const pairs = yield* pairNodes(one, other);
  const moved = yield* findMoved(one, other, pairs);
  const contentChanges = yield* compareContents(one, other, pairs);

  const counts = { added: 0, removed: 0, changed: 0, moved: 0, unchanged: 0 };
  // bytes are outside of the heap, which garbage collection copies
  const nodes: Buffer[] = [];
  for (const place of yield* listPlaces(before, after, pairs)) {
    const id = (place.to ?? place.from)?.node._id ?? '';
    const change = contentChanges.get(id) ?? noChange;
    const node = toDiffNode(place, isReversed ? reverse(change) : change, moved.has(id));
    if (node.moved) counts.moved += 1;
    if (node.change !== 'unchanged' || !node.moved) counts[node.change] += 1;
    if (node.change !== 'unchanged' || node.moved)
      nodes.push(Buffer.from(`${nodes.length > 0 ? ',' : ''}${JSON.stringify(node)}`));
    yield;
  }
  return toJson(compareFields(from?.document, to.document), counts, nodes);
}

/** Compares the rich text of all pairs. Returns what changed by the ids of both nodes. */
function* compareContents(
  one: NumberedTree<NodeWords>,
  other: NumberedTree<NodeWords>,
  pairs: NodePairs,
): SlicedWork<Map<string, ContentChange>> {
  const changes = new Map<string, ContentChange>();
  const words = startWordDiff();
  for (const { node } of one.nodes.values()) {
    yield;
    const counterpart = other.nodes.get(pairs.get(node._id) ?? '')?.node;
    if (!counterpart || counterpart.content === node.content) continue;
    const [from, to] = [toText(node), toText(counterpart)];
    yield;
    const text = words.compare(from, to);
    const format_changed = text.length === 0 && !hasSameContent(node, counterpart);
    changes.set(node._id, { text, format_changed }).set(counterpart._id, { text, format_changed });
  }
  return changes;
}

function toText(node: NodeWords | undefined): string {
  return node?.content ? toPlainText(JSON.parse(node.content)) : '';
}

/** Returns true if the rich text has the same canonical JSON: the order of names in the stored text may differ. */
function hasSameContent(one: NodeWords, other: NodeWords): boolean {
  return toCanonicalContent(one.content) === toCanonicalContent(other.content);
}

function reverse({ text, format_changed }: ContentChange): ContentChange {
  return { text: reverseEdits(text), format_changed };
}

function toDiffNode(
  { from, to }: ComparedPlace<NodeWords>,
  content: ContentChange,
  moved: boolean,
): DiffNode {
  const node = (to ?? from)?.node;
  if (!node) throw new Error('A node of a diff is in one of the versions');
  return {
    change: getChange(from?.node, to?.node, content),
    moved,
    lineage_id: getLineageId(node),
    node_type: node.node_type,
    from: from ? toPlace(from) : null,
    to: to ? toPlace(to) : null,
    text: from && to ? content.text : replaceText(toText(from?.node), toText(to?.node)),
    format_changed: content.format_changed,
  };
}

function getChange(
  from: NodeWords | undefined,
  to: NodeWords | undefined,
  { text, format_changed }: ContentChange,
): DiffNode['change'] {
  if (!from) return 'added';
  if (!to) return 'removed';
  return from.title === to.title && text.length === 0 && !format_changed ? 'unchanged' : 'changed';
}

function toPlace({ node, number }: NumberedNode<NodeWords>): NonNullable<DiffNode['to']> {
  return { id: node._id, number, title: node.title };
}

type Header = Pick<Diff, 'from' | 'to' | 'fields'>;

function compareFields(from: DocumentRow | undefined, to: DocumentRow): Header {
  const fields = (['title', 'version', 'department'] as const)
    .map((field) => ({ field, from: from?.[field] ?? null, to: to[field] }))
    .filter((change) => change.from !== change.to);
  return { from: from ? toSummary(from) : null, to: toSummary(to), fields };
}

/** Writes the response in the order of the schema. `nodes` are JSON with the commas in between. */
function toJson({ from, to, fields }: Header, counts: Diff['counts'], nodes: readonly Buffer[]): Buffer {
  const same = from !== null && fields.length === 0 && nodes.length === 0;
  const start = JSON.stringify({ from, to, same, fields, counts, nodes: [] });
  return Buffer.concat([Buffer.from(start.slice(0, -']}'.length)), ...nodes, Buffer.from(']}')]);
}
