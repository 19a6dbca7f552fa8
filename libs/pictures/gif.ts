/** Cleans GIF files, also animated ones (GIF89a specification). */
import { type ByteReader, byteReader, startsWith } from './byte-reader.ts';
import { PictureRejected } from './fault.ts';
import type { CleanedParts } from './parts.ts';
import { assertPartCount, assertSize } from './size-limit.ts';

const extension = 0x21;
const image = 0x2c;
const trailer = 0x3b;
const graphicControl = 0xf9;
const application = 0xff;

/** Cleans a GIF file, which starts with a signature. Throws `PictureRejected`. */
export function cleanGif(bytes: Uint8Array): CleanedParts {
  const reader = byteReader(bytes, { littleEndian: true });
  reader.seek(6);
  const [width, height] = [reader.uint16(), reader.uint16()];
  assertSize(width, height);
  takeColors(reader, reader.uint8());
  const parts = [reader.since(0)];
  /** The control block of the next image: it is dropped with a text that it belongs to. */
  let control: Uint8Array | undefined;
  let images = 0;
  let blocks = 0;
  for (let block = reader.uint8(); block !== trailer; block = reader.uint8()) {
    blocks += 1;
    assertPartCount(blocks);
    const start = reader.position() - 1;
    if (block === image) {
      takeImage(reader, { width, height });
      if (control) parts.push(control);
      parts.push(reader.since(start));
      control = undefined;
      images += 1;
      continue;
    }
    if (block !== extension) throw new PictureRejected('malformed');
    const label = reader.uint8();
    const first = readBlocks(reader);
    if (label === graphicControl) {
      if (first.byteLength !== 4 || reader.position() !== start + 8) throw new PictureRejected('malformed');
      control = reader.since(start);
    } else if (label === application) {
      const loop = readLoop(reader.since(start));
      if (loop) parts.push(loop);
    } else if (label === 0x01) control = undefined;
  }
  if (images === 0) throw new PictureRejected('malformed');
  return { width, height, parts: [...parts, Uint8Array.of(trailer)] };
}

/** Reads the rest of a screen descriptor and its colors. */
function takeColors(reader: ByteReader, flags: number): void {
  reader.take(2);
  reader.take(getColorBytes(flags));
}

/** Returns the size of a color table, which the flags declare. */
function getColorBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** Reads an image with its colors and its data. It must be within the screen. */
function takeImage(reader: ByteReader, screen: { width: number; height: number }): void {
  const [left, top, width, height] = [reader.uint16(), reader.uint16(), reader.uint16(), reader.uint16()];
  assertSize(width, height);
  if (left + width > screen.width || top + height > screen.height) throw new PictureRejected('malformed');
  reader.take(getColorBytes(reader.uint8()));
  const codeSize = reader.uint8();
  if (codeSize < 1 || codeSize > 8) throw new PictureRejected('malformed');
  if (readBlocks(reader).byteLength === 0) throw new PictureRejected('malformed');
}

/** Reads blocks up to an empty one, and returns the first. */
function readBlocks(reader: ByteReader): Uint8Array {
  const first = reader.take(reader.uint8());
  for (let last = first; last.byteLength > 0; ) last = reader.take(reader.uint8());
  return first;
}

const loopNames = ['NETSCAPE2.0', 'ANIMEXTS1.0'];

/** Returns the extension that says how often an animation repeats; undefined for any other one. */
function readLoop(bytes: Uint8Array): Uint8Array | undefined {
  const name = bytes.subarray(3, 14);
  if (bytes[2] !== 11 || !loopNames.some((known) => startsWith(name, known))) return undefined;
  // one block with its length, 3, the number 1 and the count of two bytes
  if (bytes.byteLength < 19 || bytes[14] !== 3 || bytes[15] !== 1) return undefined;
  return Uint8Array.from([...bytes.subarray(0, 18), 0]);
}
