/** What can go wrong with the embedded MongoDB, each with a code that does not change and one clear sentence. */

/** The codes: which of these happened can be told without reading the message. */
export type EmbeddedCode =
  | 'no_mongod'
  | 'data_dir_in_use'
  | 'data_dir_version'
  | 'disk_full'
  | 'mongod_failed';

/** An error of the embedded MongoDB. */
export type EmbeddedError = Error & { code: EmbeddedCode };

/** Makes such an error; `message` is one sentence for the person at the terminal. */
export function embeddedError(code: EmbeddedCode, message: string): EmbeddedError {
  return Object.assign(new Error(message), { code });
}
