/** Errors of a local mongod, with a stable code and a message for the user. */

/** The stable error codes. */
export type MongodErrorCode =
  | 'no_mongod'
  | 'data_dir_in_use'
  | 'data_dir_version'
  | 'disk_full'
  | 'mongod_failed';

/** An error of a local mongod. */
export type MongodError = Error & { code: MongodErrorCode };

/** Creates an error; `message` is shown to the user on the terminal. */
export function mongodError(code: MongodErrorCode, message: string): MongodError {
  return Object.assign(new Error(message), { code });
}
