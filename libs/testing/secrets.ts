/** Collects the secrets that tests create and send, and checks that no log line contains one. */

/** Collects secrets and searches text for them. */
export interface SecretScanner {
  /** Adds a secret; ignores null, undefined and values shorter than 12 characters. */
  add(secret: string | null | undefined): void;
  /** Adds the values of all fields with a secret's name in a request or response body, at any depth. */
  addFrom(value: unknown): void;
  /** The number of known secrets, including parts of tokens and links. */
  size(): number;
  /** The lines that contain a secret, with each secret replaced by `<secret of … characters>`. */
  findLeaks(lines: readonly string[]): string[];
}

const secretNames =
  /^(password|current_password|new_password|access_token|refresh_token|token|key|secret|invite_url|reset_url)$/;

/** Characters. Shorter values are words that tests send in place of a secret, such as `nonsense`. */
const minLength = 12;

/** Creates a scanner without any secrets. */
export function secretScanner(): SecretScanner {
  const known = new Set<string>();
  const add = (secret: string | null | undefined) => {
    if (!secret || secret.length < minLength) return;
    known.add(secret);
    // the secret part of a JWT is its signature; the secret part of a link is its fragment
    for (const part of [secret.split('.').at(-1), secret.split('#').at(-1)])
      if (part && part.length >= minLength) known.add(part);
  };
  const addFrom = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && secretNames.test(name)) add(inner);
      else addFrom(inner);
    }
  };
  return {
    add,
    addFrom,
    size: () => known.size,
    findLeaks(lines) {
      const text = lines.join('\n');
      const leaked = [...known].filter((secret) =>
        getSpellings(secret).some((spelling) => text.includes(spelling)),
      );
      return lines.flatMap((line) => {
        const within = leaked.filter((secret) =>
          getSpellings(secret).some((spelling) => line.includes(spelling)),
        );
        return within.length === 0 ? [] : [mask(line, within)];
      });
    },
  };
}

/** The spellings of a secret: plain, inside a JSON string, inside a URL. */
function getSpellings(secret: string): string[] {
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])];
}

function mask(line: string, secrets: readonly string[]): string {
  return secrets
    .flatMap(getSpellings)
    .reduce((text, spelling) => text.replaceAll(spelling, `<secret of ${spelling.length} characters>`), line);
}
