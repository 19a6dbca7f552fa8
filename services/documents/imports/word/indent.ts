/** Reads how far a paragraph or a table is from the left edge of the text. */
import { attribute, childW, parseTwips, type XmlElement } from '#libs/opc';

/** The left indent in the properties of a paragraph, style or list level in twips; undefined if they do not set it. */
export function readIndent(properties: XmlElement | undefined): number | undefined {
  const edges = childW(properties, 'ind');
  return parseTwips(attribute(edges, 'left') ?? attribute(edges, 'start'));
}

/** The left indent of a table in twips; undefined if it has none or is a share of the width. */
export function readTableIndent(table: XmlElement): number | undefined {
  const indent = childW(table, 'tblPr', 'tblInd');
  return (attribute(indent, 'type') ?? 'dxa') === 'dxa' ? parseTwips(attribute(indent, 'w')) : undefined;
}
