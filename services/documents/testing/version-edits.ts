/** Generates versions of a document for property tests: a tree, and the same tree after random edits. */
import fc from 'fast-check';
import { newId } from '#libs/contract';
import type { NodeRow } from '../store/collections.ts';
import type { DocumentWithNodes } from '../store/document-repository.ts';
import { documentRow, nodeRow } from './rows.ts';

const types = ['section', 'step', 'sub_step'] as const;

/** A node of a generated tree. */
interface Sketch {
  lineage_id: string;
  title: string;
  words: string[];
  isBold: boolean;
  children: Sketch[];
}

/** An edit at a place that `pick` chooses, with a word and another place. */
export interface Edit {
  kind: keyof typeof edits;
  pick: number;
  to: number;
  word: string;
}

/** Few words, so that siblings often have the same title. */
const word = fc.constantFrom('open', 'close', 'the', 'valve', '2', 'Öl', '開', '🛠');
const words = fc.array(word, { maxLength: 6 });

/** A tree with at most three levels. */
function sketches(level = 0): fc.Arbitrary<Sketch[]> {
  const sketch = fc.record({
    lineage_id: fc.uuid(),
    title: word,
    words,
    isBold: fc.boolean(),
    children: level < types.length - 1 ? sketches(level + 1) : fc.constant<Sketch[]>([]),
  });
  return fc.array(sketch, { maxLength: 3 });
}

/** Where a node is. */
interface Place {
  siblings: Sketch[];
  at: number;
  level: number;
}

function listPlaces(siblings: Sketch[], level = 0): Place[] {
  return siblings.flatMap((node, at) => [{ siblings, at, level }, ...listPlaces(node.children, level + 1)]);
}

/** All lists of siblings on a level. */
function listParents(tree: Sketch[], level: number): Sketch[][] {
  if (level === 0) return [tree];
  return listPlaces(tree).flatMap((place) => (place.level === level - 1 ? [getChildren(place)] : []));
}

const getChildren = ({ siblings, at }: Place) => siblings[at]?.children ?? [];
const getNode = ({ siblings, at }: Place) => siblings[at];

type ApplyEdit = (place: Place, edit: Edit, tree: Sketch[]) => void;

const change =
  (apply: (node: Sketch, edit: Edit) => void): ApplyEdit =>
  (place, edit) => {
    const node = getNode(place);
    if (node) apply(node, edit);
  };

/** The edits by kind. */
const edits = {
  title: change((node, { word }) => {
    node.title = word;
  }),
  text: change((node, { word, to }) => {
    node.words.splice(to % (node.words.length + 1), to % 2, word);
  }),
  format: change((node) => {
    node.isBold = !node.isBold;
  }),
  lineage: change((node) => {
    node.lineage_id = newId();
  }),
  remove: ({ siblings, at }) => siblings.splice(at, 1),
  add: ({ siblings, at }, { word }) =>
    siblings.splice(at, 0, { lineage_id: newId(), title: word, words: [word], isBold: false, children: [] }),
  move: ({ siblings, at, level }, { to }, tree) => {
    const parents = listParents(tree, level);
    const target = parents[to % parents.length];
    const [node] = siblings.splice(at, 1);
    if (node && target) target.splice(to % (target.length + 1), 0, node);
  },
} satisfies Record<string, ApplyEdit>;

const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom(...(Object.keys(edits) as Edit['kind'][])),
  pick: fc.nat(1_000),
  to: fc.nat(1_000),
  word,
});

/** Two versions, of which either has the smaller id. */
export const versions: fc.Arbitrary<[DocumentWithNodes, DocumentWithNodes]> = fc
  .tuple(sketches(), fc.array(edit, { maxLength: 8 }), fc.boolean(), fc.tuple(word, word))
  .map(([tree, list, isReversed, [title, department]]) => {
    const before = toVersion(tree, { title, department });
    const edited = structuredClone(tree);
    for (const one of list) {
      const places = listPlaces(edited);
      const place = places[one.pick % Math.max(1, places.length)];
      if (place) edits[one.kind](place, one, edited);
    }
    const after = toVersion(edited, { title, department: list.length > 4 ? null : department });
    return isReversed ? [after, before] : [before, after];
  });

/** Gives every node a new id. The nodes are in no particular order. */
function toVersion(
  tree: readonly Sketch[],
  fields: { title: string; department: string | null },
): DocumentWithNodes {
  const document = documentRow(fields);
  const nodes: NodeRow[] = [];
  const add = (siblings: readonly Sketch[], parent_id: string | null, level: number) => {
    for (const [order, { lineage_id, title, words, isBold, children }] of siblings.entries()) {
      const node_type = types[level] ?? 'sub_step';
      const content = toContent(words, isBold);
      const row = nodeRow(document, { lineage_id, parent_id, node_type, title, order, content });
      nodes.push(row);
      add(children, row._id, level + 1);
    }
  };
  add(tree, null, 0);
  return { document, nodes: nodes.toReversed() };
}

function toContent(words: readonly string[], isBold: boolean): string | null {
  if (words.length === 0) return isBold ? '{"type":"doc"}' : null;
  const marks = isBold ? { marks: [{ type: 'bold' }] } : {};
  const content = [{ type: 'text', text: words.join(' '), ...marks }];
  return JSON.stringify({ type: 'doc', content: [{ type: 'paragraph', content }] });
}
