/** Redacts paths that match no operation for the log. Known words are kept, everything else is hidden. */
import type { AnyOperation } from '#libs/contract';

/** Replaces a segment that is not logged. */
const hiddenSegment = '*';
const maxSegments = 12;

/** Words in paths: lower-case letters without digits. Keys, tokens, ids and email addresses do not match. */
const plainWord = /^[._]?[a-z][a-z._-]{0,31}$/;

/** A segment of an operation's path: its text, or `undefined` for a parameter. */
type Segment = string | undefined;

/**
 * Creates a function that redacts a request's path for the log. An unknown path may contain a secret, e.g. a
 * mistyped share link or an API key pasted into the address bar. A segment is kept only if it is a word of a
 * known path, or a plain word where no known path has a parameter. Other segments become `*`. The query is
 * always removed.
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
      const literal = candidates.filter((template) => equalsIgnoreCase(template[at], segment));
      const parameter = candidates.filter((template) => at < template.length && template[at] === undefined);
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

function equalsIgnoreCase(known: Segment, segment: string): boolean {
  return known !== undefined && known.toLowerCase() === segment.toLowerCase();
}
