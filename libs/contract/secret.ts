/** A type for secrets. It keeps passwords and keys out of logs, responses and error messages. */
import { inspect } from 'node:util';

/** A value that always prints as `[secret]`. Only `reveal` returns the value. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the plain value. Call it only where the value is used. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
