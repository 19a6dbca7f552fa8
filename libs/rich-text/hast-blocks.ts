/** Reads callouts and code from HTML trees. */
import type { Element } from 'hast';
import { type CalloutKind, calloutKinds, getCallout, isCalloutKind } from './callout.ts';
import { isHastElement, toHastText } from './hast-elements.ts';
import type { RichText } from './tree.ts';

/** The kind of a callout in our own HTML, from its class; undefined for another element. */
export function findCalloutKind(element: Element): string | undefined {
  const names = Array.isArray(element.properties.className) ? element.properties.className : [];
  return names.map((name) => String(name).replace(/^callout-/, '')).find(isCalloutKind);
}

/** GitHub's alerts have other words for three of the kinds. */
const alertKinds: Record<string, string> = {
  ...{
    NOTE: 'note',
    TIP: 'note',
    IMPORTANT: 'note',
    WARNING: 'warning',
    CAUTION: 'caution',
    DANGER: 'danger',
  },
};

/**
 * Converts a quote that begins with `[!WARNING]` or `[!warning]`, as GitHub writes alerts, to a callout. A caution that
 * begins with the signal word of a danger is a danger, as `toGfm` writes it.
 */
export function toAlert(content: RichText[]): RichText | undefined {
  const [first, ...rest] = content;
  const [start, ...others] = first?.content ?? [];
  const match = /^\[!([A-Za-z]+)\][ \n]?/.exec(start?.text ?? '');
  const kind = match && alertKinds[(match[1] ?? '').toUpperCase()];
  if (!kind || first?.type !== 'paragraph' || start?.marks) return undefined;
  const text = start?.text?.slice(match[0].length) ?? '';
  const tail = text === '' && others[0]?.type === 'hardBreak' ? others.slice(1) : others;
  const inline = text === '' ? tail : [{ type: 'text', text }, ...tail];
  if (kind === 'caution' && findLabelKind(inline) === 'danger')
    return createCallout('danger', rest.length > 0 ? rest : [{ type: 'paragraph' }]);
  const blocks = inline.length > 0 ? [{ type: 'paragraph', content: inline }, ...rest] : rest;
  return blocks.length > 0 ? createCallout(kind, blocks) : undefined;
}

/** Converts a quote in another block, where GitHub has no alerts, to a callout if its first line is a signal word. */
export function toLabelledCallout([first, ...content]: RichText[]): RichText | undefined {
  const kind = first?.type === 'paragraph' ? findLabelKind(first.content ?? []) : undefined;
  return kind && content.length > 0 ? createCallout(kind, content) : undefined;
}

function createCallout(kind: string, content: RichText[]): RichText {
  return { type: 'callout', attrs: { kind }, content };
}

/** Returns the kind whose signal word a line is, in bold and without anything else. */
function findLabelKind([label, ...others]: RichText[]): CalloutKind | undefined {
  const isBold = label?.marks?.length === 1 && label.marks[0]?.type === 'bold';
  if (!isBold || others.length > 0) return undefined;
  return calloutKinds.find((kind) => getCallout(createCallout(kind, [])).signalWord === label.text);
}

/** Converts `pre` to a code block, or to nothing if it is empty. */
export function toCode(pre: Element): RichText[] {
  const code = pre.children.find((child) => isHastElement(child) && child.tagName === 'code');
  const names = code && isHastElement(code) ? code.properties.className : undefined;
  const name = Array.isArray(names)
    ? names.map(String).find((each) => each.startsWith('language-'))
    : undefined;
  const text = toHastText(pre).replace(/\r\n?/g, '\n').replace(/\n$/, '');
  if (text === '') return [];
  const attrs = name && { attrs: { language: name.slice('language-'.length) } };
  return [{ type: 'codeBlock', ...attrs, content: [{ type: 'text', text }] }];
}
