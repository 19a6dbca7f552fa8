/** Secrets that tests make and send, and the promise that none of them is in any log. */

/** Remembers secrets, and looks for them. */
export interface SecretWatch {
  /** Remembers a secret. */
  know(secret: string | null | undefined): void;
  /** Remembers what fields of a body or an answer hold that are called like a secret. */
  knowWithin(value: unknown): void;
  /** How many are known. */
  size(): number;
  /** The lines that have a secret in them, with the secret's name in its place. */
  foundIn(lines: readonly string[]): string[];
}

const secretNames =
  /^(password|current_password|new_password|access_token|refresh_token|token|key|secret|invite_url|reset_url)$/;

/** Shorter ones are words that tests send where a secret is expected, such as `nonsense`. */
const shortest = 12;

/** A watch that knows nothing yet. */
export function secretWatch(): SecretWatch {
  const known = new Set<string>();
  const know = (secret: string | null | undefined) => {
    if (!secret || secret.length < shortest) return;
    known.add(secret);
    // of a JWT the signature is what nobody may have; of a link what is behind the #
    for (const part of [secret.split('.').at(-1), secret.split('#').at(-1)])
      if (part && part.length >= shortest) known.add(part);
  };
  const knowWithin = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && secretNames.test(name)) know(inner);
      else knowWithin(inner);
    }
  };
  return {
    know,
    knowWithin,
    size: () => known.size,
    foundIn(lines) {
      const text = lines.join('\n');
      const leaked = [...known].filter((secret) => formsOf(secret).some((form) => text.includes(form)));
      return lines.flatMap((line) => {
        const within = leaked.filter((secret) => formsOf(secret).some((form) => line.includes(form)));
        return within.length === 0 ? [] : [masked(line, within)];
      });
    },
  };
}

/** How a secret can be written: as it is, within JSON, within a URL. */
function formsOf(secret: string): string[] {
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])];
}

function masked(line: string, secrets: readonly string[]): string {
  return secrets
    .flatMap(formsOf)
    .reduce((text, form) => text.replaceAll(form, `<secret of ${form.length} characters>`), line);
}
