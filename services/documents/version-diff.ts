/** Compares two versions of a document, node by node and word by word. Lets other requests run every 10 ms. */
import { toPlainText } from '#libs/rich-text';
import { startTimeSlices, type TimeSlices } from '#libs/workers';
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
import type { DocumentRow, NodeRow } from './store/collections.ts';
import type { DocumentWithNodes } from './store/document-repository.ts';

/** How the rich text of a node changed. */
type ContentChange = Pick<DiffNode, 'text' | 'format_changed'>;

const noChange: ContentChange = { text: [], format_changed: false };

/**
 * Returns the `Diff` as parts of JSON text. If `from` is undefined, every node is added. Moves and edits are found from
 * the version with the smaller id to the other one, so that exchanged versions give the same, reversed.
 */
export async function compareDocuments(
  from: DocumentWithNodes | undefined,
  to: DocumentWithNodes,
): Promise<string[]> {
  const slices = startTimeSlices();
  const before = numberTree(from?.nodes ?? []);
  if (slices.isOver()) await slices.next();
  const after = numberTree(to.nodes);
  if (slices.isOver()) await slices.next();
  const isReversed = from !== undefined && from.document._id > to.document._id;
  const [one, other] = isReversed ? [after, before] : [before, after];
  const pairs = pairNodes(one, other);
  if (slices.isOver()) await slices.next();
  const moved = findMoved(one, other, pairs);
  const contentChanges = await compareContents(one, other, pairs, slices);

  const counts = { added: 0, removed: 0, changed: 0, moved: 0, unchanged: 0 };
  const nodes: string[] = [];
  for (const place of listPlaces(before, after, pairs)) {
    const id = (place.to ?? place.from)?.node._id ?? '';
    const change = contentChanges.get(id) ?? noChange;
    const node = toDiffNode(place, isReversed ? reverse(change) : change, moved.has(id));
    if (node.moved) counts.moved += 1;
    if (node.change !== 'unchanged' || !node.moved) counts[node.change] += 1;
    if (node.change !== 'unchanged' || node.moved) nodes.push(JSON.stringify(node));
    if (slices.isOver()) await slices.next();
  }
  return toJson(compareFields(from?.document, to.document), counts, nodes);
}

/** Compares the rich text of all pairs. Returns what changed by the ids of both nodes. */
async function compareContents(
  one: NumberedTree<NodeRow>,
  other: NumberedTree<NodeRow>,
  pairs: NodePairs,
  slices: TimeSlices,
): Promise<Map<string, ContentChange>> {
  const changes = new Map<string, ContentChange>();
  const words = startWordDiff();
  for (const { node } of one.nodes.values()) {
    const counterpart = other.nodes.get(pairs.get(node._id) ?? '')?.node;
    if (!counterpart || counterpart.content === node.content) continue;
    if (slices.isOver()) await slices.next();
    const [from, to] = [toText(node), toText(counterpart)];
    if (slices.isOver()) await slices.next();
    const text = words.compare(from, to);
    const format_changed = text.length === 0 && !hasSameContent(node, counterpart);
    changes.set(node._id, { text, format_changed }).set(counterpart._id, { text, format_changed });
  }
  return changes;
}

function toText(node: NodeRow | undefined): string {
  return node?.content ? toPlainText(JSON.parse(node.content)) : '';
}

/** Returns true if the rich text has the same canonical JSON: the order of names in the stored text may differ. */
function hasSameContent(one: NodeRow, other: NodeRow): boolean {
  return toCanonicalContent(one.content) === toCanonicalContent(other.content);
}

function reverse({ text, format_changed }: ContentChange): ContentChange {
  return { text: reverseEdits(text), format_changed };
}

function toDiffNode({ from, to }: ComparedPlace<NodeRow>, content: ContentChange, moved: boolean): DiffNode {
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
  from: NodeRow | undefined,
  to: NodeRow | undefined,
  { text, format_changed }: ContentChange,
): DiffNode['change'] {
  if (!from) return 'added';
  if (!to) return 'removed';
  return from.title === to.title && text.length === 0 && !format_changed ? 'unchanged' : 'changed';
}

function toPlace({ node, number }: NumberedNode<NodeRow>): NonNullable<DiffNode['to']> {
  return { id: node._id, number, title: node.title };
}

type Header = Pick<Diff, 'from' | 'to' | 'fields'>;

function compareFields(from: DocumentRow | undefined, to: DocumentRow): Header {
  const fields = (['title', 'version', 'department'] as const)
    .map((field) => ({ field, from: from?.[field] ?? null, to: to[field] }))
    .filter((change) => change.from !== change.to);
  return { from: from ? toSummary(from) : null, to: toSummary(to), fields };
}

/** Joins the parts in the order of the schema. The nodes are already JSON text. */
function toJson({ from, to, fields }: Header, counts: Diff['counts'], nodes: readonly string[]): string[] {
  const same = from !== null && fields.length === 0 && nodes.length === 0;
  const start = JSON.stringify({ from, to, same, fields, counts, nodes: [] });
  return [
    start.slice(0, -'[]}'.length),
    '[',
    ...nodes.flatMap((node, at) => (at === 0 ? [node] : [',', node])),
    ']}',
  ];
}
