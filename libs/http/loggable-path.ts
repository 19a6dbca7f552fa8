/**
 * The form in which a path that no operation has may be logged: known words as they are, everything else
 * hidden.
 */
import type { AnyOperation } from '#libs/contract';

/** Stands for a segment that is not logged. */
const hiddenSegment = '*';
const maxSegments = 12;

/**
 * Words of addresses: lower-case letters without digits. Keys, tokens, ids and addresses of people are none.
 */
const plainWord = /^[._]?[a-z][a-z._-]{0,31}$/;

/** A segment of an operation's path: its text, or undefined for a parameter. */
type Segment = string | undefined;

/**
 * Makes the function that turns a request's path into one that may be logged. An unknown path may hold a
 * secret: a public link with a typing mistake, an API key pasted into the address. So a segment is kept only
 * if it is a word of a known path or a plain word that is not in the place of a parameter; others become `*`.
 * A query is never part of it.
 */
export function createPathRedactor(
  operations: readonly AnyOperation[],
  apiPrefix: string,
): (path: string) => string {
  const templates = operations.map((operation): Segment[] =>
    splitPath(operation.at === 'root' ? operation.path : apiPrefix + operation.path).map((text) =>
      text.startsWith('{') ? undefined : text,
    ),
  );
  const words = new Set(templates.flat());
  return (path) => {
    const segments = splitPath(path.split('?', 1)[0] ?? '');
    let candidates = templates;
    const loggable = segments.slice(0, maxSegments).map((segment, at) => {
      const literal = candidates.filter((one) => equalsIgnoreCase(one[at], segment));
      const parameter = candidates.filter((one) => at < one.length && one[at] === undefined);
      candidates = [...literal, ...parameter];
      if (segment === '' || words.has(segment)) return segment;
      return parameter.length === 0 && plainWord.test(segment) ? segment : hiddenSegment;
    });
    return `/${loggable.join('/')}${segments.length > maxSegments ? '/…' : ''}`;
  };
}

function splitPath(path: string): string[] {
  return path.replace(/^\//, '').split('/');
}

function equalsIgnoreCase(known: Segment, given: string): boolean {
  return known !== undefined && known.toLowerCase() === given.toLowerCase();
}
