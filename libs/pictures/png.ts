/** Cleans PNG files, also animated ones (W3C PNG, third edition). */
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { byteReader } from './byte-reader.ts';
import { readOrientation, toUprightSize, writeOrientation } from './exif.ts';
import { PictureRejected } from './fault.ts';
import type { CleanedParts } from './parts.ts';
import { assertPartCount, assertSize } from './size-limit.ts';

/** The first eight bytes of a PNG file. */
export const pngSignature = '\u0089PNG\r\n\u001a\n';

/** The chunks that decoders need, besides IHDR and IEND: palette, pixels, transparency, colors, animation. */
const neededChunks = new Set([
  ...['PLTE', 'IDAT', 'tRNS', 'bKGD', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'sBIT', 'cICP', 'mDCV', 'cLLI', 'pHYs'],
  ...['acTL', 'fcTL', 'fdAT'],
]);

/** The allowed bit depths by color type. */
const bitDepths = new Map([
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]],
]);

/** The samples of a pixel by color type. */
const samples: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Deflate stores at most this many bytes in one: two bits stand for up to 258 (RFC 1951). */
const maxRatio = 1_032;

interface Chunk {
  type: string;
  data: Uint8Array;
  /** The chunk with length, type and checksum. */
  bytes: Uint8Array;
}

interface Header {
  width: number;
  height: number;
  isIndexed: boolean;
  /** Bytes of the unpacked pixels, at least. */
  pixelBytes: number;
}

/** Cleans a PNG file, which starts with the signature. Throws `PictureRejected`. */
export function cleanPng(bytes: Uint8Array): CleanedParts {
  const chunks = readChunks(bytes);
  const first = chunks.next();
  if (first.done || first.value.type !== 'IHDR') throw new PictureRejected('malformed');
  const header = readHeader(first.value.data);
  const parts = [bytes.subarray(0, pngSignature.length), first.value.bytes];
  const seen = new Set(['IHDR']);
  let previous = 'IHDR';
  let orientation = 1;
  let packedBytes = 0;
  for (const { type, data, bytes: chunk } of chunks) {
    assertPlace(type, { seen, previous, header });
    if (type === 'fcTL') assertFrame(data, header);
    if (type === 'eXIf' && !seen.has('eXIf')) {
      orientation = readOrientation(data);
      if (orientation > 1) parts.push(writeChunk('eXIf', writeOrientation(orientation)));
    }
    if (neededChunks.has(type) || type === 'IEND') parts.push(chunk);
    if (type === 'IDAT') packedBytes += data.byteLength;
    seen.add(type);
    previous = type;
  }
  if (packedBytes * maxRatio < header.pixelBytes) throw new PictureRejected('malformed');
  return { ...toUprightSize(header, orientation), parts };
}

/** Generates the chunks up to IEND, with checked checksums. */
function* readChunks(bytes: Uint8Array): Generator<Chunk, undefined> {
  const reader = byteReader(bytes);
  reader.seek(pngSignature.length);
  let count = 0;
  for (let type = ''; type !== 'IEND'; ) {
    count += 1;
    assertPartCount(count);
    const start = reader.position();
    const length = reader.uint32();
    type = Buffer.from(reader.take(4)).toString('latin1');
    if (!/^[A-Za-z]{4}$/.test(type)) throw new PictureRejected('malformed');
    const data = reader.take(length);
    const checked = reader.since(start + 4);
    if (reader.uint32() !== crc32(checked)) throw new PictureRejected('malformed');
    yield { type, data, bytes: reader.since(start) };
  }
  return undefined;
}

function readHeader(data: Uint8Array): Header {
  if (data.byteLength !== 13) throw new PictureRejected('malformed');
  const reader = byteReader(data);
  const [width, height] = [reader.uint32(), reader.uint32()];
  const [depth, color, compression, filter, interlace] = [...reader.take(5)];
  const isKnown = bitDepths.get(color ?? -1)?.includes(depth ?? -1) ?? false;
  if (!isKnown || compression !== 0 || filter !== 0 || (interlace ?? 2) > 1)
    throw new PictureRejected('malformed');
  assertSize(width, height);
  const bits = (samples[color ?? -1] ?? 0) * (depth ?? 0);
  const pixelBytes = height * (1 + Math.ceil((width * bits) / 8));
  return { width, height, isIndexed: color === 3, pixelBytes };
}

/** The chunks before a chunk. */
interface Place {
  seen: ReadonlySet<string>;
  previous: string;
  header: Header;
}

/** Throws if a chunk may not come here: a critical one that is unknown, repeated or in the wrong order. */
function assertPlace(type: string, place: Place): void {
  if (!isInPlace(type, place)) throw new PictureRejected('malformed');
}

function isInPlace(type: string, { seen, previous, header }: Place): boolean {
  switch (type) {
    case 'PLTE':
      return !seen.has('PLTE') && !seen.has('IDAT');
    case 'IDAT':
      return (previous === 'IDAT' || !seen.has('IDAT')) && (seen.has('PLTE') || !header.isIndexed);
    case 'IEND':
      return seen.has('IDAT');
    default:
      return !isCritical(type);
  }
}

/** The first letter of a critical chunk is a capital. */
function isCritical(type: string): boolean {
  return type < 'a';
}

/** Throws if a frame of an animation is not within the picture. */
function assertFrame(data: Uint8Array, { width, height }: Header): void {
  if (data.byteLength !== 26) throw new PictureRejected('malformed');
  const reader = byteReader(data);
  reader.seek(4);
  const [frameWidth, frameHeight, x, y] = [
    reader.uint32(),
    reader.uint32(),
    reader.uint32(),
    reader.uint32(),
  ];
  assertSize(frameWidth, frameHeight);
  if (x + frameWidth > width || y + frameHeight > height) throw new PictureRejected('malformed');
}

function writeChunk(type: string, data: Uint8Array): Uint8Array {
  const chunk = Buffer.alloc(12 + data.byteLength);
  chunk.writeUInt32BE(data.byteLength, 0);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.byteLength - 4);
  return chunk;
}
