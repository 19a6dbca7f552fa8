/** Errors of the embedded MongoDB, with a stable code and a message for the user. */

/** The stable error codes. */
export type EmbeddedCode =
  | 'no_mongod'
  | 'data_dir_in_use'
  | 'data_dir_version'
  | 'disk_full'
  | 'mongod_failed';

/** An error of the embedded MongoDB. */
export type EmbeddedError = Error & { code: EmbeddedCode };

/** Creates an error; `message` is shown to the user on the terminal. */
export function embeddedError(code: EmbeddedCode, message: string): EmbeddedError {
  return Object.assign(new Error(message), { code });
}
