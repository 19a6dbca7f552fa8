/**
 * Sealed fields: the fields of a collection that are encrypted at rest, and the context each text is bound
 * to.
 */
import type { Keyring } from './keyring.ts';

/** A sealed field, declared by its collection. `Part` is the part of a row that the context is built from. */
export interface SealedField<Part> {
  /** The path within a row: a field name, or a field of each array item, e.g. `secrets.sealed`. */
  readonly path: string;
  /** The context that the text is bound to: copied to another row, the text does not open. */
  context(row: Part): string;
}

/** Seals and opens the texts of one field. */
export interface Sealing<Part> {
  /** Encrypts a text for the row that stores it. */
  seal(text: string, row: Part): string;
  /** Decrypts. Throws if the text was altered, belongs to another row or its key is not in the keyring. */
  open(sealed: string, row: Part): string;
}

/** Creates the sealing of a field with a keyring. */
export function createSealing<Part>(keyring: Keyring, { context }: SealedField<Part>): Sealing<Part> {
  return {
    seal: (text, row) => keyring.seal(text, context(row)),
    open: (sealed, row) => keyring.open(sealed, context(row)),
  };
}
