/**
 * Finds texts that are not valid Unicode. A JSON escape can be half of a surrogate pair, which UTF-8, MongoDB and XML
 * cannot represent: the service would store another text than the one that was sent.
 */

/** A text that is not valid Unicode. `path` says where, e.g. `body/title`. */
interface InvalidText {
  path: string;
  message: string;
}

const message = 'Must be valid Unicode: an escape such as \\ud83d alone is half of a character';
const maxFound = 50;
const maxPathLength = 1000;

/**
 * Lists the first 50 texts and keys of a JSON value that have a lone surrogate, in reading order, with paths below
 * `where`.
 */
export function findLoneSurrogates(value: unknown, where: string): InvalidText[] {
  const found: InvalidText[] = [];
  // almost no value has one, so paths are built only if there is one
  if (isWellFormed(value)) return found;
  const pending: { value: unknown; path: string }[] = [{ value, path: where }];
  for (let next = pending.pop(); next && found.length < maxFound; next = pending.pop()) {
    const { path } = next;
    if (typeof next.value === 'string' && !next.value.isWellFormed()) found.push({ path, message });
    if (typeof next.value !== 'object' || next.value === null) continue;
    const children = Object.entries(next.value).map(([key, child]) => ({
      value: child,
      path: appendPath(path, key),
      key,
    }));
    for (const child of children) if (!child.key.isWellFormed()) found.push({ path: child.path, message });
    for (const child of children.reverse()) pending.push(child);
  }
  return found.slice(0, maxFound);
}

/** Appends a key to a path. Keys and paths are cut, because those of an untrusted value can be megabytes long. */
function appendPath(path: string, key: string): string {
  return path.length > maxPathLength ? path : `${path}/${key.slice(0, 64).toWellFormed()}`;
}

/** Whether no text and no key has a lone surrogate. Uses no recursion, because a value can be nested very deep. */
function isWellFormed(value: unknown): boolean {
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === 'string') {
      if (!next.isWellFormed()) return false;
    } else if (Array.isArray(next)) {
      for (const item of next) pending.push(item);
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, child] of Object.entries(next)) {
        if (!key.isWellFormed()) return false;
        pending.push(child);
      }
    }
  }
  return true;
}
