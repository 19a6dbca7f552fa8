/** Writes formulas of MathML in one line, with signs for what their place means: `(1)/(2)`, `10^(3)`. */
import type { Element } from 'hast';
import { isHastElement } from './hast-elements.ts';

/** The text before the first child, before each further one, and after the last. The last separator is repeated. */
const signs: Record<string, readonly [before: string, separators: readonly string[], after: string]> = {
  mfrac: ['(', [')/('], ')'],
  msup: ['', ['^('], ')'],
  msub: ['', ['_('], ')'],
  munder: ['', ['_('], ')'],
  msubsup: ['', ['_(', ')^('], ')'],
  munderover: ['', ['_(', ')^('], ')'],
  msqrt: ['√(', [''], ')'],
  mroot: ['(', [')^(1/('], '))'],
  mfenced: ['(', [', '], ')'],
  mtable: ['[', ['; '], ']'],
  mtr: ['', [', '], ''],
};

/** Returns the children of an element with the signs between them; undefined for another element. */
export function toMathChildren({ tagName, children }: Element): Element['children'] | undefined {
  const found = Object.hasOwn(signs, tagName) ? signs[tagName] : undefined;
  if (!found) return undefined;
  const [before, separators, after] = found;
  const parts = children.filter(isHastElement);
  const text = (value: string) => ({ type: 'text' as const, value });
  const content = parts.flatMap((part, at) => {
    const separator = at === 0 ? before : (separators[at - 1] ?? separators.at(-1) ?? '');
    return [text(separator), part];
  });
  return parts.length === 0 ? children : [...content, text(after)];
}
