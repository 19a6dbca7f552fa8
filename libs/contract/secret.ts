/** Secrets as a type, so that a password or a key cannot slip into a log, an answer or an error message. */
import { inspect } from 'node:util';

/** A value that prints as `[secret]` everywhere; `reveal` is the only way to it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself: for the one place that needs it. */
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
