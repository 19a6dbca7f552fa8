/** Writes zip archives; the same parts result in the same bytes. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** A part's bytes, or a function that generates its text when the part is written. */
export type PartSource = Uint8Array | (() => Iterable<string>);

/**
 * Writes the parts in order and returns the archive. Generated text is compressed while it is generated and
 * never held as a whole. The next part is requested after that, so it may depend on what earlier parts
 * contain. Without compression, an archive that is read at once takes less time.
 */
export async function pack(
  parts: Iterable<[string, PartSource]>,
  { isCompressed = true }: { isCompressed?: boolean } = {},
): Promise<Buffer> {
  const archive = new ZipFile();
  const written = buffer(archive.outputStream);
  for (const [name, source] of parts) {
    if (typeof source !== 'function' && (!isCompressed || isAlreadyCompressed(name))) {
      const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
      archive.addBuffer(bytes, name, { ...OPTIONS, compress: false });
      continue;
    }
    // one part at a time: the library would compress all parts in parallel, each with its own buffers
    const stream = typeof source === 'function' ? toByteStream(source()) : Readable.from([source]);
    archive.addReadStream(stream, name, OPTIONS);
    await finished(stream);
  }
  archive.end();
  return written;
}

/** Options of every entry. The timestamp is fixed: the earliest that zip can store, in local time. */
const OPTIONS = { mtime: new Date(1980, 0, 1), mode: 0o100644, forceDosTimestamp: true };

function toByteStream(source: Iterable<string>): Readable {
  return Readable.from(toSlices(source), { objectMode: false, highWaterMark: SLICE });
}

const SLICE = 128 * 1024;

function* toSlices(source: Iterable<string>): Generator<Buffer> {
  let pending: string[] = [];
  let size = 0;
  for (const text of source) {
    pending.push(text);
    size += text.length;
    if (size < SLICE) continue;
    yield Buffer.from(pending.join(''), 'utf8');
    pending = [];
    size = 0;
  }
  yield Buffer.from(pending.join(''), 'utf8');
}

function isAlreadyCompressed(name: string): boolean {
  return /\.(png|jpe?g|gif|emz|wmz|odttf|zip|xlsx|docx)$/i.test(name);
}
