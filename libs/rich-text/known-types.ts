/** The form in which the known nodes and marks are declared, and what their attributes can require. */
import type { Mark, RichText } from './tree.ts';

/** What each code of a warning means, for the docs. */
export const warningCodes = {
  unknown_node: 'The type of the node is unknown. Only its text is shown, and nothing of its attributes.',
  unknown_mark: 'The type of the mark is unknown. The text is shown without it.',
  invalid_attribute: 'The value of an attribute is not understood. It is ignored.',
  image_not_shown: 'The page, Word or both show a link or the text of `alt` instead of the image.',
  link_removed:
    'The target of the link is not an absolute http, https or mailto URL. Only the text is shown.',
  no_text: 'The mention or formula has no text. Nothing is shown.',
} as const;

/** The stable name of a kind of warning. */
export type WarningCode = keyof typeof warningCodes;

/** Something that renderers cannot show, and what to do about it. */
export type Loss = { code: WarningCode; message: string };

/** An attribute that a renderer reads. */
export type KnownAttribute = {
  /** What it sets, and the values that are understood, as a phrase for the docs. */
  description: string;
  /** The names that other editors give it. */
  aliases?: readonly string[];
  /** Whether renderers understand a value. Any other value is ignored, as if the attribute were missing. */
  accepts(value: unknown): boolean;
};

/** What has in common a known node and a known mark. */
type KnownType<Example> = {
  /** The name in Tiptap. */
  type: string;
  /** The names in ProseMirror's own schemas. */
  aliases: readonly string[];
  attributes: Readonly<Record<string, KnownAttribute>>;
  /** What each renderer shows, as a phrase for the docs. */
  page: string;
  word: string;
  markdown: string;
  /** What GitHub Flavored Markdown shows, if it is not what plain Markdown shows. */
  gfm?: string;
  /** The HTML that the page has for `example`, up to the first attribute; undefined if it has only the text. */
  html?: string;
  example: Example;
  /** What of a node or mark with Tiptap's names is not shown, apart from the values of single attributes. */
  findLoss?: (value: Example) => Loss | undefined;
};

/** A node that renderers show as more than the text in it. */
export type KnownNode = KnownType<RichText>;

/** A mark that renderers show. */
export type KnownMark = KnownType<Mark>;

/** An attribute with any value. */
export function anyValue(description: string): KnownAttribute {
  return { description, accepts: () => true };
}

/** An attribute whose value is a string. */
export function stringValue(description: string, ...aliases: string[]): KnownAttribute {
  return { description, aliases, accepts: (value) => typeof value === 'string' };
}

/** An attribute whose value is an integer from `min` to `max`. */
export function integerValue(
  description: string,
  min: number,
  max: number,
  ...aliases: string[]
): KnownAttribute {
  const accepts = (value: unknown) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return { description: `${description}: ${min} to ${max}`, aliases, accepts };
}

/** An attribute whose value is one of these strings, with any white space around it. */
export function enumValue(description: string, choices: readonly string[]): KnownAttribute {
  const accepts = (value: unknown) => typeof value === 'string' && choices.includes(value.trim());
  return { description: `${description}: ${choices.map((choice) => `\`${choice}\``).join(', ')}`, accepts };
}

/** The attributes under Tiptap's names, the same object if no name differs; Tiptap's name wins if both are there. */
export function renameAttributes(
  known: Pick<KnownType<unknown>, 'attributes'>,
  attrs: Record<string, unknown>,
): Record<string, unknown> {
  let renamed = attrs;
  for (const [name, { aliases = [] }] of Object.entries(known.attributes)) {
    const alias = aliases.find((each) => Object.hasOwn(attrs, each));
    if (alias !== undefined && !Object.hasOwn(attrs, name)) renamed = { ...renamed, [name]: attrs[alias] };
  }
  return renamed;
}
