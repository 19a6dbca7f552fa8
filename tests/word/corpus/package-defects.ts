/** Finds defects that the schema allows but Word reports as damage: in types, references, lists and tables. */
import {
  attribute,
  childrenW,
  childW,
  createXmlBudget,
  elements,
  isElement,
  isW,
  type Parts,
  parseXml,
  R,
  TYPES_PART,
  valueW,
  walkElements,
  type XmlElement,
} from '#libs/opc';

/**
 * Returns a message for each missing content type, style, list or relationship, each cell that does not end in a
 * paragraph and each row that does not fill its table.
 */
export function findDefects(parts: Parts): string[] {
  const trees = new Map<string, XmlElement>();
  for (const [name, bytes] of parts)
    if (/\.(xml|rels)$/.test(name)) trees.set(name, parseXml(bytes, name, createXmlBudget()));
  const styles = new Set(getIds(trees.get('word/styles.xml'), 'style', 'styleId'));
  const numbering = trees.get('word/numbering.xml');
  const lists = new Set(getIds(numbering, 'num', 'numId'));
  const patterns = new Set(getIds(numbering, 'abstractNum', 'abstractNumId'));
  const defects = findTypeDefects(parts, trees.get(TYPES_PART));
  for (const num of childrenW(numbering, 'num'))
    if (!patterns.has(valueW(num, 'abstractNumId') ?? ''))
      defects.push(`list ${attribute(num, 'numId')} has no pattern`);
  for (const [name, root] of trees) {
    const links = checkRelationships(name, trees.get(toRelsPart(name)), parts, defects);
    for (const { element } of walkElements(root)) {
      const value = attribute(element, 'val') ?? '';
      if (isW(element, 'pStyle', 'rStyle', 'tblStyle', 'basedOn', 'next', 'link') && !styles.has(value))
        defects.push(`${name}: no style ${value}`);
      if (isW(element, 'numId') && value !== '0' && !lists.has(value))
        defects.push(`${name}: no list ${value}`);
      if (isW(element, 'ilvl') && !/^[0-8]$/.test(value)) defects.push(`${name}: level ${value}`);
      if (isW(element, 'tc') && !endsInParagraph(element))
        defects.push(`${name}: a cell without a last paragraph`);
      for (const { uri, value: id } of element.attributes)
        if (uri === R && !links.has(id)) defects.push(`${name}: no relationship ${id}`);
    }
    defects.push(...findTableDefects(name, root));
  }
  return defects;
}

/** Returns a message for each part without content type, and for each part or extension with two. */
function findTypeDefects(parts: Parts, types: XmlElement | undefined): string[] {
  const declared = (types ? elements(types) : []).map(
    (entry) => attribute(entry, 'PartName', '') ?? `.${attribute(entry, 'Extension', '')}`,
  );
  const isTyped = (name: string) =>
    declared.includes(`/${name}`) || declared.includes(name.slice(name.lastIndexOf('.')));
  return [
    ...[...parts.keys()]
      .filter((name) => name !== TYPES_PART && !isTyped(name))
      .map((name) => `${name}: no type`),
    ...declared.filter((key, at) => declared.indexOf(key) < at).map((key) => `${key}: two types`),
  ];
}

/** Returns a message for each row whose cells and gaps do not add up to the columns of the grid. */
function findTableDefects(name: string, root: XmlElement): string[] {
  const defects: string[] = [];
  for (const { element } of walkElements(root)) {
    if (!isW(element, 'tbl')) continue;
    const columns = childrenW(childW(element, 'tblGrid'), 'gridCol').length;
    for (const row of childrenW(element, 'tr')) {
      const spans = childrenW(row, 'tc').map((cell) => Number(valueW(cell, 'tcPr', 'gridSpan') ?? 1));
      const gaps = ['gridBefore', 'gridAfter'].map((side) => Number(valueW(row, 'trPr', side) ?? 0));
      const sum = [...spans, ...gaps].reduce((total, span) => total + span, 0);
      if (sum !== columns) defects.push(`${name}: a row of ${sum} in a table of ${columns} columns`);
    }
  }
  return defects;
}

function endsInParagraph(cell: XmlElement): boolean {
  return isW(cell.children.findLast(isElement), 'p');
}

function getIds(root: XmlElement | undefined, local: string, id: string): string[] {
  return childrenW(root, local).map((element) => attribute(element, id) ?? '');
}

function toRelsPart(name: string): string {
  return name.replace(/([^/]*)$/, '_rels/$1.rels');
}

/** Returns the relationship ids of a part; adds missing targets and duplicate ids to `defects`. */
function checkRelationships(
  name: string,
  rels: XmlElement | undefined,
  parts: Parts,
  defects: string[],
): Set<string> {
  const ids = new Set<string>();
  for (const link of rels ? elements(rels) : []) {
    const id = attribute(link, 'Id', '') ?? '';
    const target = attribute(link, 'Target', '') ?? '';
    if (ids.has(id)) defects.push(`${name}: relationship ${id} twice`);
    ids.add(id);
    if (attribute(link, 'TargetMode', '') === 'External' || target.startsWith('#')) continue;
    const path = new URL(target, `file:///${name}`).pathname.slice(1);
    if (!parts.has(decodeURIComponent(path))) defects.push(`${name}: no part ${target}`);
  }
  return ids;
}
