/** The content of a file for an upload. */

/** A `Blob` or `File` as a browser has it, or the bytes. */
export type FileContent = Blob | Uint8Array | ArrayBuffer;
