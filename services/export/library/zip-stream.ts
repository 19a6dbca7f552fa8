/** Writes a zip archive as a stream, with one file in memory at a time. */
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** A file of the archive. */
export interface ArchiveFile {
  path: string;
  bytes: Uint8Array;
  modifiedAt: Date;
  /** Whether the bytes are compressed already, like those of a picture. */
  isCompressed?: boolean;
}

/**
 * The level of zlib for bytes that are compressed already. They are not stored as they are, because some readers of
 * streams need deflated entries to find the end of an entry whose size its header does not have.
 */
const fastestLevel = 1;

/**
 * Returns the archive as a stream. The next file is requested when the last one is written, so that a slow reader
 * slows down the source. An error of the source destroys the stream, and a destroyed stream ends the source. `onError`
 * is called with the errors of the source.
 */
export function createZipStream(
  files: AsyncGenerator<ArchiveFile>,
  onError: (error: unknown) => void,
): Readable {
  const archive = new ZipFile();
  // the type of the library is wider than what it returns
  const output = archive.outputStream as Readable;
  let writing: Readable | undefined;
  output.once('close', () => writing?.destroy());
  // an error may occur before somebody reads
  output.on('error', () => undefined);
  const write = async () => {
    for await (const { path, bytes, modifiedAt, isCompressed } of files) {
      if (output.destroyed) return;
      writing = Readable.from([bytes]);
      const options = { mtime: modifiedAt, mode: 0o100644 };
      archive.addReadStream(
        writing,
        path,
        isCompressed ? { ...options, compressionLevel: fastestLevel } : options,
      );
      await finished(writing);
    }
    archive.end();
  };
  write().catch((error: Error) => {
    if (output.destroyed) return;
    onError(error);
    output.destroy(error);
  });
  return output;
}
