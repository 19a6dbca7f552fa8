/**
 * Defines what the content hash of a document covers: its words as canonical JSON (RFC 8785), without ids, positions,
 * people and times. The same words have the same canonical content in every copy.
 */
import canonicalize from 'canonicalize';
import { groupByParent, type NodePlace, type NodesByParent } from '../views.ts';

/** The fields of a document in its canonical content. */
export interface CanonicalFields {
  title: string;
  version: string | null;
  department: string | null;
}

/** The fields of a node in the canonical content. `content` is JSON text. */
export interface CanonicalNode extends NodePlace {
  node_type: string;
  title: string;
  content: string | null;
}

/**
 * Returns the canonical content in parts, at most one node each. Joined, they are the canonical JSON of
 * `{"v":1,"title":…,"version":…,"department":…,"nodes":[…]}`, with a node as
 * `{"node_type":…,"title":…,"content":…,"children":[…]}` and siblings in reading order.
 */
export function* writeCanonicalContent(
  { title, version, department }: CanonicalFields,
  nodes: Iterable<CanonicalNode>,
): Generator<string> {
  // canonical JSON sorts the names of the fields
  yield `{"department":${toCanonicalJson(department)},"nodes":`;
  yield* writeSiblings(null, groupByParent(nodes));
  yield `,"title":${toCanonicalJson(title)},"v":1,"version":${toCanonicalJson(version)}}`;
}

/** Returns the canonical JSON of rich text, which is stored as JSON text. */
export function toCanonicalContent(content: string | null): string {
  return toCanonicalJson(content === null ? null : JSON.parse(content));
}

function* writeSiblings(
  parent: string | null,
  nodesByParent: NodesByParent<CanonicalNode>,
): Generator<string> {
  let before = '[';
  for (const { _id, node_type, title, content } of nodesByParent.get(parent) ?? []) {
    yield `${before}{"children":`;
    yield* writeSiblings(_id, nodesByParent);
    const [type, text] = [toCanonicalJson(node_type), toCanonicalContent(content)];
    yield `,"content":${text},"node_type":${type},"title":${toCanonicalJson(title)}}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Writes a lone surrogate, which RFC 8785 does not cover, as `\udxxx`. */
function toCanonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('The value is not JSON');
  return text;
}
