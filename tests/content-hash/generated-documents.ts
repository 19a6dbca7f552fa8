/** Generates documents whose rich text has all kinds of texts, numbers and names, and single changes of them. */
import fc from 'fast-check';
import type { SampleDocument, SampleNode } from './documents.ts';

/** Any UTF-16 text, also with lone surrogates, which stored rich text may contain. */
const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
});
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), anyText);
/** Documents and nodes have titles of valid Unicode, because MongoDB stores no other ones. */
const title = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 1e21, 1e20, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, 333333333.3333333),
);
const attrs = fc.dictionary(
  fc.oneof(text, fc.constantFrom('__proto__', 'toJSON', 'constructor')),
  fc.oneof(text, number, fc.boolean(), fc.constant(null), fc.array(number, { maxLength: 3 })),
  { maxKeys: 4 },
);
const mark = fc.record({ type: fc.constantFrom('bold', 'link'), attrs }, { requiredKeys: ['type'] });
const leaf = fc.record(
  { type: fc.constant('text'), text, marks: fc.array(mark, { maxLength: 2 }) },
  { requiredKeys: ['type', 'text'] },
);
const block = fc.record(
  { type: fc.constantFrom('paragraph', 'heading', 'x'), attrs, content: fc.array(leaf, { maxLength: 3 }) },
  { requiredKeys: ['type'] },
);
const content = fc.option(
  fc.record({ type: fc.constant('doc'), content: fc.array(block, { maxLength: 3 }) }),
);

function node(node_type: string, children: fc.Arbitrary<SampleNode[]>): fc.Arbitrary<SampleNode> {
  return fc.record({ node_type: fc.constant(node_type), title, content, children });
}
const subStep = node('sub_step', fc.constant([]));
const step = node('step', fc.array(subStep, { maxLength: 2 }));
const section = node('section', fc.array(step, { maxLength: 3 }));

/** A document with at most 20 nodes. */
export const document: fc.Arbitrary<SampleDocument> = fc.record({
  title,
  version: fc.option(title),
  department: fc.option(title),
  nodes: fc.array(section, { maxLength: 4 }),
});

/** Changes a document in place; returns false if it has no place for the change. */
type Change = (document: SampleDocument, pick: (count: number) => number) => boolean;

const changeNode =
  (change: (node: SampleNode, siblings: SampleNode[], at: number) => boolean): Change =>
  ({ nodes }, pick) => {
    const places = listPlaces(nodes);
    const place = places[pick(places.length)];
    const found = place?.siblings[place.at];
    return found && place ? change(found, place.siblings, place.at) : false;
  };

/** Single changes of what a reader sees. Each of them must change the hash. */
export const changes: Readonly<Record<string, Change>> = {
  'the title': (document) => {
    document.title += ' ';
    return true;
  },
  'the version, absent or empty': (document) => {
    document.version = document.version === null ? '' : null;
    return true;
  },
  'the department': (document) => {
    document.department = `${document.department ?? ''}x`;
    return true;
  },
  'the version and the department exchanged': (document) => {
    const { version, department } = document;
    [document.version, document.department] = [department, version];
    return version !== department;
  },
  'the title of a node': changeNode((node) => {
    node.title = `x${node.title}`;
    return true;
  }),
  'the type of a node': changeNode((node) => {
    node.node_type += 's';
    return true;
  }),
  'the rich text of a node, absent or empty': changeNode((node) => {
    const isEmpty = JSON.stringify(node.content) === '{"type":"doc","content":[]}';
    node.content = node.content === null || !isEmpty ? { type: 'doc', content: [] } : null;
    return true;
  }),
  'a number in rich text': changeNode((node) => {
    node.content = { type: 'doc', attrs: { before: node.content, width: 0.1 + 0.2 } };
    return true;
  }),
  'a missing node': changeNode((_node, siblings, at) => siblings.splice(at, 1).length === 1),
  'a repeated node': changeNode((node, siblings, at) => siblings.splice(at, 0, node).length === 0),
  'the order of siblings': changeNode((node, siblings, at) => {
    const next = siblings[at + 1];
    if (!next || JSON.stringify(next) === JSON.stringify(node)) return false;
    siblings.splice(at, 2, next, node);
    return true;
  }),
  'a node moved below the node before it': changeNode((node, siblings, at) => {
    const before = siblings[at - 1];
    if (!before) return false;
    siblings.splice(at, 1);
    before.children.push(node);
    return true;
  }),
};

function listPlaces(siblings: SampleNode[]): { siblings: SampleNode[]; at: number }[] {
  return siblings.flatMap((node, at) => [{ siblings, at }, ...listPlaces(node.children)]);
}

/** Returns the same value with the names of all objects in reverse order. */
export function reverseNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseNames);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, field]) => [name, reverseNames(field)]),
  );
}
