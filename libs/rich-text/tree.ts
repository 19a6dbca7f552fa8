/** The rich-text tree as editors of the ProseMirror family (Tiptap and others) write it, and the way to walk it. */

/** What is said about a text, such as `bold`, or `link` with its `href` among the attributes. */
export type Mark = { type: string; attrs?: Record<string, unknown> };

/** A node: the whole (`doc`), a block, or a leaf such as `text`; only leaves of type `text` should carry `text` and `marks`. */
export type RichText = {
  type: string;
  attrs?: Record<string, unknown>;
  content?: RichText[];
  text?: string;
  marks?: Mark[];
};

/** A node on its way: how many `content` arrays it lies in, and its path from the root, like "content/0/content/2". */
export type Visit = { node: RichText; depth: number; path: string };

/** Every node of the tree, the root included, depth first in reading order; any depth is safe, as nothing recurses. */
export function* walk(content: RichText): Generator<Visit> {
  const waiting: Visit[] = [{ node: content, depth: 0, path: '' }];
  for (let visit = waiting.pop(); visit; visit = waiting.pop()) {
    yield visit;
    const prefix = visit.path === '' ? 'content' : `${visit.path}/content`;
    const below: Visit[] = [];
    for (const [index, node] of (visit.node.content ?? []).entries()) {
      below.push({ node, depth: visit.depth + 1, path: `${prefix}/${index}` });
    }
    for (const next of below.reverse()) waiting.push(next);
  }
}
