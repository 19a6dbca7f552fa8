/** The rich-text tree as ProseMirror editors such as Tiptap write it, and a function to walk it. */

/** A mark of a text, such as `bold`, or `link` with the attribute `href`. */
export type Mark = { type: string; attrs?: Record<string, unknown> };

/** A node: the root (`doc`), a block or a leaf; only leaves of type `text` should have `text` and `marks`. */
export type RichText = {
  type: string;
  attrs?: Record<string, unknown>;
  content?: RichText[];
  text?: string;
  marks?: Mark[];
};

/**
 * A visited node with its depth (the number of `content` arrays around it) and its path, like
 * "content/0/content/2".
 */
export type Visit = { node: RichText; depth: number; path: string };

/** Yields every node including the root, depth first in reading order; safe for any depth (no recursion). */
export function* walk(content: RichText): Generator<Visit> {
  const pending: Visit[] = [{ node: content, depth: 0, path: '' }];
  for (let visit = pending.pop(); visit; visit = pending.pop()) {
    yield visit;
    const prefix = visit.path === '' ? 'content' : `${visit.path}/content`;
    const children: Visit[] = [];
    for (const [index, node] of (visit.node.content ?? []).entries()) {
      children.push({ node, depth: visit.depth + 1, path: `${prefix}/${index}` });
    }
    for (const next of children.reverse()) pending.push(next);
  }
}
