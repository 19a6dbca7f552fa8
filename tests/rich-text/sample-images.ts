/** Creates minimal image headers with a size, and `data:` URIs of them; for tests only. */
import { Buffer } from 'node:buffer';

/** A `data:` URI of the bytes. */
export function dataUri(mime: string, bytes: Uint8Array): string {
  return `data:${mime};base64,${Buffer.from(bytes).toString('base64')}`;
}

/** The first bytes of a PNG with this size in pixels. */
export function png(width: number, height: number): Buffer {
  const bytes = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), Buffer.alloc(13)]);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

/** The first bytes of a GIF with this size in pixels. */
export function gif(width: number, height: number, version = '89a'): Buffer {
  const bytes = Buffer.concat([Buffer.from(`GIF${version}`, 'latin1'), Buffer.alloc(7)]);
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
}

/** The segments of a JPEG up to the start of frame: APP0, Huffman table, fill bytes, size in pixels. */
export function jpeg(width: number, height: number, startOfFrame = 0xc2): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  const app0 = [0xff, 0xe0, 0, 6, 0xff, 0xc0, 0, 0];
  const table = [0xff, 0xc4, 0, 4, 9, 9];
  const frame = [0xff, 0xff, 0xff, startOfFrame, 0, 11, 8, ...size, 1, 0, 0, 0];
  return Buffer.from([0xff, 0xd8, ...app0, ...table, ...frame]);
}

/** The first bytes of a WebP with this size in pixels; the chunk is extended, lossless or lossy. */
export function webp(width: number, height: number, chunk: 'VP8X' | 'VP8L' | 'VP8 ' = 'VP8X'): Buffer {
  const bytes = Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${chunk}`, 'latin1'), Buffer.alloc(16)]);
  if (chunk === 'VP8X') {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  } else if (chunk === 'VP8L') {
    bytes.writeUInt8(0x2f, 20);
    bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  } else {
    bytes.writeUIntLE(0x2a019d, 23, 3);
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  }
  return bytes;
}
