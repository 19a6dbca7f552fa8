/** Finds the tracked changes of a Word part, and accepts them. */
import { childrenW, childW, isElement, isW, rewrite, W, type XmlElement, type XmlNode } from '#libs/opc';

const inserted = ['ins', 'moveTo'];
const deleted = ['del', 'moveFrom'];
const changes = new Set([...inserted, ...deleted, 'cellIns', 'cellDel', 'cellMerge']);

/** Whether a part has text that somebody inserted, deleted or moved, and nobody accepted or rejected. */
export function hasTrackedChanges(root: XmlElement): boolean {
  return root.children.some((child) => isElement(child) && (isChange(child) || hasTrackedChanges(child)));
}

function isChange({ local, uri }: XmlElement): boolean {
  return uri === W && changes.has(local);
}

/** Accepts all tracked changes: inserted text stays, deleted text goes. */
export function acceptTrackedChanges(root: XmlElement): void {
  rewrite(root, (element) => {
    if (isW(element, ...deleted)) return isMark(element) ? [element] : [];
    if (isW(element, ...inserted)) return isMark(element) ? [] : element.children;
    if (isW(element, 'tr') && childW(element, 'trPr', 'del')) return [];
    if (isW(element, 'tc') && childW(element, 'tcPr', 'cellDel')) return [];
    joinParagraphs(element);
    return [element];
  });
  joinParagraphs(root);
}

/** A mark has no content: it says that a paragraph or row is new or deleted, or where a range begins or ends. */
function isMark(element: XmlElement): boolean {
  return !element.children.some(isElement);
}

/** A paragraph whose mark is deleted is joined with the next one, also across bookmarks and marks of ranges. */
function joinParagraphs(parent: XmlElement): void {
  if (!parent.children.some(hasDeletedMark)) return;
  const children: XmlNode[] = [];
  let pending: XmlNode[] = [];
  for (const child of parent.children) {
    if (isW(child, 'p')) {
      const [properties, content] = [childrenW(child, 'pPr'), withoutProperties(child)];
      if (hasDeletedMark(child)) {
        for (const each of content) pending.push(each);
        continue;
      }
      child.children = [...properties, ...pending, ...content];
      pending = [];
    } else if (pending.length > 0 && isElement(child) && !isMark(child)) {
      children.push(createParagraph(pending));
      pending = [];
    }
    children.push(child);
  }
  if (pending.length > 0) children.push(createParagraph(pending));
  parent.children = children;
}

function hasDeletedMark(node: XmlNode): boolean {
  if (!isW(node, 'p')) return false;
  const mark = childW(node, 'pPr', 'rPr');
  return deleted.some((name) => childW(mark, name) !== undefined);
}

function withoutProperties({ children }: XmlElement): XmlNode[] {
  return children.filter((child) => !isW(child, 'pPr'));
}

function createParagraph(children: XmlNode[]): XmlElement {
  return { name: 'w:p', uri: W, local: 'p', attributes: [], children };
}
