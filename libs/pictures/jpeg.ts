/** Cleans JPEG files (ITU-T T.81; JFIF 1.02; T.872 for ICC profiles and the segment of Adobe). */
import { type ByteReader, byteReader, startsWith } from './byte-reader.ts';
import { readOrientation, toUprightSize, writeOrientation } from './exif.ts';
import { PictureRejected } from './fault.ts';
import type { CleanedParts } from './parts.ts';
import { assertPartCount, assertSize } from './size-limit.ts';

const endOfImage = 0xd9;
const startOfScan = 0xda;

/** The tables that decoders need: DHT, DQT, DRI. */
const tables = new Set([0xc4, 0xdb, 0xdd]);
/** The frames that browsers show: baseline, extended sequential and progressive, all with Huffman coding. */
const frames = new Set([0xc0, 0xc1, 0xc2]);

interface Size {
  width: number;
  height: number;
}

/** Cleans a JPEG file, which starts with SOI and a marker. Throws `PictureRejected`. */
export function cleanJpeg(bytes: Uint8Array): CleanedParts {
  const reader = byteReader(bytes);
  const start = reader.take(2);
  const head: Uint8Array[] = [];
  const body: Uint8Array[] = [];
  let size: Size | undefined;
  let orientation: number | undefined;
  let scans = 0;
  let segments = 0;
  for (let marker = readMarker(reader); marker !== endOfImage; marker = readMarker(reader)) {
    segments += 1;
    assertPartCount(segments);
    const data = readSegment(reader);
    if (marker === startOfScan) {
      if (!size) throw new PictureRejected('malformed');
      body.push(writeSegment(marker, data), takeScan(reader, bytes));
      scans += 1;
    } else if (frames.has(marker)) {
      if (size) throw new PictureRejected('malformed');
      size = readFrame(data);
      body.push(writeSegment(marker, data));
    } else if (tables.has(marker)) body.push(writeSegment(marker, data));
    else if (marker === 0xe1 && startsWith(data, 'Exif\0')) orientation ??= readOrientation(data.subarray(6));
    else if (marker === 0xe0 && startsWith(data, 'JFIF\0') && head.length === 0) head.push(writeJfif(data));
    else if (isNeededSegment(marker, data)) body.push(writeSegment(marker, data));
    else if (!isRemovable(marker)) throw new PictureRejected('malformed');
  }
  if (!size || scans === 0) throw new PictureRejected('malformed');
  if (orientation !== undefined && orientation > 1) head.push(writeExif(orientation));
  const end = Uint8Array.of(0xff, endOfImage);
  return { ...toUprightSize(size, orientation ?? 1), parts: [start, ...head, ...body, end] };
}

/** Reads a marker, which fill bytes may precede. */
function readMarker(reader: ByteReader): number {
  if (reader.uint8() !== 0xff) throw new PictureRejected('malformed');
  let marker = 0xff;
  while (marker === 0xff) marker = reader.uint8();
  return marker;
}

/** Reads the data of a segment. Markers without data, such as SOI, may not come here. */
function readSegment(reader: ByteReader): Uint8Array {
  const length = reader.uint16();
  if (length < 2) throw new PictureRejected('malformed');
  return reader.take(length - 2);
}

/** Reads the start of a frame: precision, height, width, then the components. */
function readFrame(data: Uint8Array): Size {
  if (data.byteLength < 6) throw new PictureRejected('malformed');
  const reader = byteReader(data);
  const precision = reader.uint8();
  const [height, width, components] = [reader.uint16(), reader.uint16(), reader.uint8()];
  // browsers show grey, three and four components of eight bits
  const isKnown = precision === 8 && [1, 3, 4].includes(components);
  if (!isKnown || data.byteLength !== 6 + 3 * components) throw new PictureRejected('malformed');
  assertSize(width, height);
  return { width, height };
}

/** Takes the compressed data of a scan. It ends before a marker that is neither a stuffed byte nor a restart. */
function takeScan(reader: ByteReader, bytes: Uint8Array): Uint8Array {
  const start = reader.position();
  for (let at = start; at < bytes.byteLength - 1; at += 1) {
    const next = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff || next === 0xff || next === 0 || (next >= 0xd0 && next <= 0xd7)) continue;
    if (at === start) throw new PictureRejected('malformed');
    reader.seek(at);
    return reader.since(start);
  }
  throw new PictureRejected('truncated');
}

/** A color profile, or what says how colors are encoded. */
function isNeededSegment(marker: number, data: Uint8Array): boolean {
  return (
    (marker === 0xe2 && startsWith(data, 'ICC_PROFILE\0')) || (marker === 0xee && startsWith(data, 'Adobe'))
  );
}

/** Application segments and comments. */
function isRemovable(marker: number): boolean {
  return (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe;
}

function writeSegment(marker: number, data: Uint8Array): Uint8Array {
  const segment = new Uint8Array(4 + data.byteLength);
  segment.set([0xff, marker, (data.byteLength + 2) >> 8, (data.byteLength + 2) & 0xff]);
  segment.set(data, 4);
  return segment;
}

/** Writes a JFIF header without the preview, which may show what was cut off the picture. */
function writeJfif(data: Uint8Array): Uint8Array {
  if (data.byteLength < 14) throw new PictureRejected('malformed');
  return writeSegment(0xe0, Uint8Array.from([...data.subarray(0, 12), 0, 0]));
}

function writeExif(orientation: number): Uint8Array {
  const name = [...'Exif\0\0'].map((character) => character.charCodeAt(0));
  return writeSegment(0xe1, Uint8Array.from([...name, ...writeOrientation(orientation)]));
}
