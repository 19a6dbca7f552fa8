/** Writes a zip archive as a stream, with one file in memory at a time. */
import { Readable } from 'node:stream';
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
  let bytes: Uint8Array = new Uint8Array();
  let reading: Readable | undefined;
  let resume = (): void => undefined;
  // one function for all files: the archive keeps it until its end, and must not keep each file with it
  const open = (callback: (error: null, stream: Readable) => void) => {
    reading = Readable.from([bytes]).once('close', () => resume());
    callback(null, reading);
  };
  output.once('close', () => {
    reading?.destroy();
    resume();
  });
  // an error may occur before somebody reads
  output.on('error', () => undefined);
  const write = async () => {
    for await (const { path, modifiedAt: mtime, isCompressed, ...file } of files) {
      if (output.destroyed) return;
      const { promise: isRead, resolve } = Promise.withResolvers<void>();
      [bytes, resume] = [file.bytes, resolve];
      const options = { mtime, mode: 0o100644 };
      withoutPool(() =>
        archive.addReadStreamLazy(
          path,
          isCompressed ? { ...options, compressionLevel: fastestLevel } : options,
          open,
        ),
      );
      await isRead;
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

/**
 * Runs `work` with buffers that share no memory. The archive keeps the buffer of each path until its end; in the pool
 * of Node, it would keep 64 KiB with it, in which other buffers have been.
 */
function withoutPool(work: () => void): void {
  const { poolSize } = Buffer;
  Buffer.poolSize = 0;
  try {
    work();
  } finally {
    Buffer.poolSize = poolSize;
  }
}
