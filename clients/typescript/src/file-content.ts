/** The content of a file for an upload. */

/** A `Blob` or `File` as a browser has it, or the bytes. An import needs a `File`, because the name says the format. */
export type FileContent = Blob | Uint8Array | ArrayBuffer;
