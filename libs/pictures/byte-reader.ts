/** Reads the bytes of a file in sequence. Every read beyond the end throws `PictureRejected('truncated')`. */
import { PictureRejected } from './fault.ts';

/** A position in a file, which each read advances. Numbers are unsigned. */
export interface ByteReader {
  position(): number;
  uint8(): number;
  uint16(): number;
  uint32(): number;
  /** Returns the next bytes without copying them. */
  take(length: number): Uint8Array;
  /** Returns the bytes from a position to the current one, without copying them. */
  since(start: number): Uint8Array;
  /** Moves to a position. */
  seek(to: number): void;
}

/** Creates a reader at the start of the bytes. */
export function byteReader(bytes: Uint8Array, { littleEndian = false } = {}): ByteReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const advance = (length: number) => {
    const start = at;
    if (start + length > bytes.byteLength) throw new PictureRejected('truncated');
    at += length;
    return start;
  };
  return {
    position: () => at,
    uint8: () => view.getUint8(advance(1)),
    uint16: () => view.getUint16(advance(2), littleEndian),
    uint32: () => view.getUint32(advance(4), littleEndian),
    take(length) {
      const start = advance(length);
      return bytes.subarray(start, start + length);
    },
    since: (start) => bytes.subarray(start, at),
    seek(to) {
      at = to;
    },
  };
}

/** Returns whether bytes begin with this ASCII text. */
export function startsWith(bytes: Uint8Array, text: string): boolean {
  if (bytes.byteLength < text.length) return false;
  for (let at = 0; at < text.length; at += 1) if (bytes[at] !== text.charCodeAt(at)) return false;
  return true;
}
