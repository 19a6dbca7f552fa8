/** Reads callouts: safety messages with the signal words of ANSI Z535, and notes. */
import { getString } from './attributes.ts';
import type { RichText } from './tree.ts';

const signalWords = { danger: 'DANGER', warning: 'WARNING', caution: 'CAUTION', note: 'NOTE' } as const;

/** How severe a callout is, from death or serious injury (`danger`) down to plain information (`note`). */
export type CalloutKind = keyof typeof signalWords;

/** A callout's kind and the word that its label shows. */
export type Callout = { kind: CalloutKind; signalWord: string };

/** All kinds of callouts, the most severe first. */
export const calloutKinds = Object.keys(signalWords).filter(isKind);

/** The kind and signal word of a node of type `callout`, from `attrs.kind`; unknown kinds are notes. */
export function getCallout(node: RichText): Callout {
  const kind = parseKind(getString(node, 'kind')) ?? 'note';
  return { kind, signalWord: signalWords[kind] };
}

/** Whether a value of `attrs.kind` is a kind, in any case and with any white space around it. */
export function isCalloutKind(value: string): boolean {
  return parseKind(value) !== undefined;
}

function parseKind(value: string): CalloutKind | undefined {
  const kind = value.trim().toLowerCase();
  return isKind(kind) ? kind : undefined;
}

function isKind(value: string): value is CalloutKind {
  return Object.hasOwn(signalWords, value);
}
