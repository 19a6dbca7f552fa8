/** Reads HTML as a tree, within limits that keep a hostile file from taking much time or memory. */
import type { Root } from 'hast';
import { fromParse5 } from 'hast-util-from-parse5';
import {
  type DefaultTreeAdapterMap,
  defaultTreeAdapter,
  parse,
  parseFragment,
  type TreeAdapter,
} from 'parse5';
import { rejectImport } from './import-fault.ts';

/** The deepest nesting of elements that a browser would also show. */
const maxDepth = 256;
/** The most elements and attributes. Each block repeats the formatting that is open, so a small file can have more. */
const maxSize = 300_000;

/** Parses HTML. A file without `<html>` is a document too. Errors: `ImportRejected`. */
export function parseHtml(text: string): Root {
  return toRoot(parse(text, createOptions()));
}

/** Parses a piece of HTML, such as that in Markdown. Errors: `ImportRejected`. */
export function parseHtmlFragment(text: string): Root {
  return toRoot(parseFragment(text, createOptions()));
}

/** The parser stops as soon as the tree is too deep or, with its attributes, too large. */
function createOptions() {
  let [depth, size] = [0, 0];
  const treeAdapter: TreeAdapter<DefaultTreeAdapterMap> = {
    ...defaultTreeAdapter,
    createElement(name, namespace, attributes) {
      size += 1 + attributes.length;
      if (size > maxSize)
        rejectImport('malformed', 'The HTML has too many elements. Close its formatting, or simplify it.');
      return defaultTreeAdapter.createElement(name, namespace, attributes);
    },
    onItemPush() {
      depth += 1;
      if (depth > maxDepth)
        rejectImport('malformed', 'The HTML is nested too deep. Close its elements, or simplify it.');
    },
    onItemPop() {
      depth -= 1;
    },
  };
  return { treeAdapter, scriptingEnabled: false };
}

/** A document or fragment is a root. */
function toRoot(tree: DefaultTreeAdapterMap['document' | 'documentFragment']): Root {
  const root = fromParse5(tree);
  return root.type === 'root' ? root : { type: 'root', children: [] };
}
