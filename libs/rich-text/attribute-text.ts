/** Reads the text of nodes that have it in their attributes: mentions and formulas. */
import { getString } from './attributes.ts';
import type { RichText } from './tree.ts';

/** The attributes with the text, the best first. */
const attributes = new Map([
  ['mention', ['label', 'id', 'text']],
  ['inlineMath', ['latex', 'text']],
  ['blockMath', ['latex', 'text']],
]);

/** The text of a mention or formula without text of its own; '' for all other nodes. */
export function getAttributeText(node: RichText): string {
  const names = attributes.get(node.type);
  if (!names || node.content?.length) return '';
  for (const name of names) {
    const text = getString(node, name) || (name === 'id' ? getNumber(node.attrs?.[name]) : '');
    if (text !== '') return text;
  }
  return '';
}

function getNumber(value: unknown): string {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : '';
}
