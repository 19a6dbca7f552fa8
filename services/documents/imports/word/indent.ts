/** Reads how far a paragraph is from the left edge of the text. */
import { attribute, childW, parseTwips, type XmlElement } from '#libs/opc';

/** The left indent in the properties of a paragraph, style or list level in twips; undefined if they do not set it. */
export function readIndent(properties: XmlElement | undefined): number | undefined {
  const edges = childW(properties, 'ind');
  return parseTwips(attribute(edges, 'left') ?? attribute(edges, 'start'));
}
