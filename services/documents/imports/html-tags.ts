/**
 * Finds the tags of HTML before it is parsed, as the tokenizer of the HTML standard does: not those in comments,
 * attributes, scripts and styles.
 */
import { ForeignContent } from './foreign-content.ts';

/** A tag, with its name in lower case. A closed one is a complete element. */
export interface HtmlTag {
  name: string;
  isEnd: boolean;
  isClosed: boolean;
}

/** A comment, the start of CDATA, what is read like a comment, or the start of a tag. */
const tokens =
  /<!--(?:-?>|.*?(?:--!?>|$))|(<!\[CDATA\[)|<[!?][^>]*>?|<\/(?![a-zA-Z])[^>]*>?|<(\/?)([a-zA-Z][^\t\n\f\r />]*)/gs;
/** White space, a slash or an attribute. */
const tagPart =
  /[\t\n\f\r ]+|\/|[^\t\n\f\r />][^\t\n\f\r />=]*(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"?|'[^']*'?|[^\t\n\f\r >]*))?/y;
/** Elements that contain only text, in which tags and comments are none. */
const textElements = new Set([
  ...['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext'],
]);

/** Finds the tags. Where it is not certain what is text, it returns all that may be tags. */
export function* readTags(text: string): Generator<HtmlTag> {
  const foreign = new ForeignContent();
  const reader = new RegExp(tokens);
  for (let found = reader.exec(text); found; found = reader.exec(text)) {
    const [, cdata, slash, written] = found;
    if (cdata) {
      if (!foreign.isCertain) return yield* readPossibleTags(text, reader.lastIndex);
      reader.lastIndex = findEnd(text, foreign.isInside ? ']]>' : '>', reader.lastIndex);
    }
    if (written === undefined) continue;
    const rest = readRestOfTag(text, reader.lastIndex);
    const tag = { name: written.toLowerCase(), isEnd: slash === '/', isSelfClosing: rest.isSelfClosing };
    yield { name: tag.name, isEnd: tag.isEnd, isClosed: foreign.read(tag) };
    reader.lastIndex = rest.end;
    if (tag.isEnd || foreign.isInside || !textElements.has(tag.name)) continue;
    const end = foreign.isCertain ? findEndOfText(text, tag.name, rest.end) : undefined;
    if (end === undefined) return yield* readPossibleTags(text, rest.end);
    reader.lastIndex = end;
  }
}

/** Returns where a tag ends, from the end of its name. */
function readRestOfTag(text: string, from: number): { end: number; isSelfClosing: boolean } {
  let [end, part] = [from, ''];
  while (end < text.length && text[end] !== '>') {
    tagPart.lastIndex = end;
    part = tagPart.exec(text)?.[0] ?? '';
    end += part.length;
  }
  return { end: end + 1, isSelfClosing: part === '/' };
}

/** Returns where the end tag of an element with text is; undefined if its script has a script in a comment. */
function findEndOfText(text: string, name: string, from: number): number | undefined {
  const endTag = new RegExp(`</${name}(?=[\t\n\f\r />])`, 'gi');
  endTag.lastIndex = from;
  const end = (name === 'plaintext' ? undefined : endTag.exec(text)?.index) ?? text.length;
  const script = name === 'script' ? text.slice(from, end) : '';
  const comment = script.indexOf('<!--');
  return comment >= 0 && script.toLowerCase().includes('<script', comment) ? undefined : end;
}

function findEnd(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at + mark.length;
}

function* readPossibleTags(text: string, from: number): Generator<HtmlTag> {
  for (const [, slash, name = ''] of text.slice(from).matchAll(/<(\/?)([a-z][^\t\n\f\r />\x3c]*)/gi))
    yield { name: name.toLowerCase(), isEnd: slash === '/', isClosed: false };
}
