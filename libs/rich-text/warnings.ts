/** Lists what the page, Word or Markdown will not show of valid rich text. */
import type { KnownNode, Loss } from './known-types.ts';
import { findKnownMark, findKnownNode, resolveNode } from './names.ts';
import type { Mark, RichText } from './tree.ts';

/** Something that will not be shown. `path` looks like "content/0/marks/1"; the root's path is empty. */
export type Warning = Loss & { path: string };

type Path = (string | number)[];
/** The warnings found so far, and the path of the current node, which is changed in place: most trees need none. */
type Search = { found: Warning[]; max: number; path: Path };

/** Lists the first `max` warnings in reading order. The content must have no faults: its depth is limited. */
export function findWarnings(content: RichText, max: number): Warning[] {
  const search: Search = { found: [], max, path: [] };
  visitNode(content, search);
  return search.found;
}

function visitNode(node: RichText, search: Search): void {
  if (search.found.length >= search.max) return;
  const known = findKnownNode(node.type);
  if (!known) add(search, [], 'unknown_node', `Only the text of a node of type ${quote(node.type)} is shown`);
  else {
    const loss = known.findLoss?.(resolveNode(node));
    if (loss) add(search, [], loss.code, loss.message);
    checkAttributes(known, node, search, []);
  }
  for (const [index, mark] of node.marks?.entries() ?? []) visitMark(mark, search, ['marks', index]);
  for (const [index, child] of node.content?.entries() ?? []) {
    search.path.push('content', index);
    visitNode(child, search);
    search.path.length -= 2;
  }
}

function visitMark(mark: Mark, search: Search, below: Path): void {
  const known = findKnownMark(mark.type);
  if (!known) {
    add(search, below, 'unknown_mark', `A mark of type ${quote(mark.type)} is not shown`);
    return;
  }
  const loss = known.findLoss?.(mark);
  if (loss) add(search, below, loss.code, loss.message);
  checkAttributes(known, mark, search, below);
}

function checkAttributes(
  { attributes }: Pick<KnownNode, 'attributes'>,
  { attrs }: RichText | Mark,
  search: Search,
  below: Path,
): void {
  if (!attrs) return;
  for (const [name, { aliases = [], accepts, description }] of Object.entries(attributes)) {
    const written = Object.hasOwn(attrs, name) ? name : aliases.find((alias) => Object.hasOwn(attrs, alias));
    if (written === undefined || attrs[written] === null || accepts(attrs[written])) continue;
    const message = `This value is ignored. ${description}`;
    add(search, [...below, 'attrs', written], 'invalid_attribute', message);
  }
}

function add({ found, max, path }: Search, below: Path, code: Loss['code'], message: string): void {
  if (found.length < max) found.push({ path: [...path, ...below].join('/'), code, message });
}

/** Quotes a name from a request, cut to 64 characters. */
function quote(name: string): string {
  return `"${name.slice(0, 64).toWellFormed()}"`;
}
