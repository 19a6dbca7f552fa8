/** Sealed fields: which fields of a collection hold sealed texts, and what each text is bound to. */
import type { Keyring } from './keyring.ts';

/** A field whose text is sealed at rest, declared by its collection; `Part` is what of a row it is bound to. */
export interface SealedField<Part> {
  /** Where in a row: a name, or one within each member of an array, e.g. `secrets.sealed`. */
  readonly path: string;
  /** What the text is bound to: moved to another row it does not open. */
  context(row: Part): string;
}

/** Seals and opens the texts of one field. */
export interface Sealing<Part> {
  /** Encrypts a text for the row that it is to be kept in. */
  seal(text: string, row: Part): string;
  /** Decrypts; throws when it was altered, belongs to another row or its key has left the ring. */
  open(sealed: string, row: Part): string;
}

/** Seals and opens a field with a ring. */
export function createSealing<Part>(ring: Keyring, { context }: SealedField<Part>): Sealing<Part> {
  return {
    seal: (text, row) => ring.seal(text, context(row)),
    open: (sealed, row) => ring.open(sealed, context(row)),
  };
}
