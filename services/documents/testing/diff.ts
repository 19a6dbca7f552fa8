/** Applies a diff to the version it starts from, so that tests can compare the result with the other version. */
import { toPlainText } from '#libs/rich-text';
import type { Diff, DiffNode } from '../contract.ts';
import { type NumberedTree, numberTree } from '../rules/tree-comparison.ts';
import type { NodeRow } from '../store/collections.ts';
import { finish } from './finish.ts';

/** What a diff says of a node: title, plain text and children. */
export interface TextNode {
  title: string;
  text: string;
  children: TextNode[];
}

const toText = ({ content }: NodeRow) => (content === null ? '' : toPlainText(JSON.parse(content)));

/** Converts the rows of a tree to titles and plain texts. */
export function toTextNodes(rows: readonly NodeRow[]): TextNode[] {
  const { children } = finish(numberTree(rows));
  const read = (parent: string | null): TextNode[] =>
    (children.get(parent) ?? []).map((node) => ({
      title: node.title,
      text: toText(node),
      children: read(node._id),
    }));
  return read(null);
}

/** Returns titles and plain texts of `to`, from the nodes of `from` and the diff alone. */
export function applyDiff(rows: readonly NodeRow[], { nodes }: Pick<Diff, 'nodes'>): TextNode[] {
  const from = finish(numberTree(rows));
  const listed = new Map(nodes.flatMap((node) => (node.to ? [[node.to.number, node] as const] : [])));
  const changed = new Set(nodes.map((node) => node.from?.id));

  function build(parent: string | null | undefined, prefix: string): TextNode[] {
    // an added node has no children that stayed
    const siblings = parent === undefined ? [] : (from.children.get(parent) ?? []);
    const stayed = siblings.filter(({ _id }) => !changed.has(_id));
    const built: TextNode[] = [];
    for (;;) {
      const number = `${prefix}${built.length + 1}`;
      const change = listed.get(number);
      const next = change ? undefined : stayed.shift();
      if (!change && !next) return built;
      const id = change ? change.from?.id : next?._id;
      const before = id === undefined ? '' : toText(getNode(from, id));
      const title = change?.to?.title ?? next?.title ?? '';
      built.push({
        title,
        text: change ? applyText(before, change) : before,
        children: build(id, `${number}.`),
      });
    }
  }
  return build(null, '');
}

function getNode({ nodes }: NumberedTree<NodeRow>, id: string): NodeRow {
  const found = nodes.get(id);
  if (!found) throw new Error(`The diff names a node ${id} that is not in the version`);
  return found.node;
}

/** Checks that the edits start from this text, and returns the text that they lead to. */
function applyText(before: string, { text, from }: DiffNode): string {
  const join = (without: string) => text.flatMap((edit) => (edit.op === without ? [] : [edit.text])).join('');
  if (text.length === 0) return before;
  if (from && join('insert') !== before) throw new Error('The edits start from another text');
  return join('delete');
}
