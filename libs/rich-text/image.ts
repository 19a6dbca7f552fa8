/** Reads images that are embedded as `data:` URIs; never fetches remote images. */
import { Buffer } from 'node:buffer';

/** An image with its size in pixels; the type is detected from its first bytes. */
export type Image = {
  mime: 'image/png' | 'image/jpeg' | 'image/gif';
  bytes: Uint8Array;
  width: number;
  height: number;
};
/** An image that browsers show. */
export type PageImage = Omit<Image, 'mime'> & { mime: Image['mime'] | 'image/webp' };
type Size = { width: number; height: number };

const prefix = /^data:image\/(?:png|jpe?g|gif|webp);base64,/i;
/** Above any camera image; a few bytes that declare more pixels could exhaust the memory of a viewer. */
const maxPixels = 100_000_000;

/** Parses a base64 `data:` URI of a PNG, JPEG or GIF of at most 100 megapixels; else undefined. */
export function parseImage(src: unknown): Image | undefined {
  const image = parsePageImage(src);
  return image && isImage(image) ? image : undefined;
}

/** Parses an image as `parseImage` does, and also WebP: browsers show it, older versions of Word do not. */
export function parsePageImage(src: unknown): PageImage | undefined {
  if (typeof src !== 'string') return undefined;
  const start = prefix.exec(src)?.[0].length;
  if (start === undefined) return undefined;
  const base64 = src.slice(start).replace(/[ \t\r\n]+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined;
  return readPageImage(Buffer.from(base64, 'base64'));
}

/** Reads a PNG, JPEG or GIF as `parseImage` does. */
export function readImage(bytes: Uint8Array): Image | undefined {
  const image = readPageImage(bytes);
  return image && isImage(image) ? image : undefined;
}

function readPageImage(bytes: Uint8Array): PageImage | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (
    toImage('image/png', bytes, readPngSize(view)) ??
    toImage('image/jpeg', bytes, readJpegSize(view)) ??
    toImage('image/gif', bytes, readGifSize(view)) ??
    toImage('image/webp', bytes, readWebpSize(view))
  );
}

function isImage(image: PageImage): image is Image {
  return image.mime !== 'image/webp';
}

function toImage(mime: PageImage['mime'], bytes: Uint8Array, size: Size | undefined): PageImage | undefined {
  if (!size || size.width < 1 || size.height < 1 || size.width * size.height > maxPixels) return undefined;
  return { mime, bytes, ...size };
}

/** PNG: an 8-byte signature, then the IHDR chunk, which starts with width and height (W3C PNG, 11.2.1). */
function readPngSize(view: DataView): Size | undefined {
  if (view.byteLength < 24 || view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a)
    return undefined;
  if (view.getUint32(12) !== 0x49484452) return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** GIF: "GIF87a" or "GIF89a", then width and height of the logical screen in little-endian order. */
function readGifSize(view: DataView): Size | undefined {
  if (view.byteLength < 10 || view.getUint32(0) !== 0x47494638) return undefined;
  const version = view.getUint16(4);
  if (version !== 0x3761 && version !== 0x3961) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/**
 * WebP: "RIFF", a length, "WEBP", then a chunk: "VP8X" with the canvas, "VP8L" (lossless) or "VP8 " (lossy) with
 * the frame, all in little-endian order (RFC 9649, 2.5 to 2.7; RFC 6386, 9.1).
 */
function readWebpSize(view: DataView): Size | undefined {
  if (view.byteLength < 30 || view.getUint32(0) !== 0x52494646 || view.getUint32(8) !== 0x57454250)
    return undefined;
  switch (view.getUint32(12)) {
    case 0x56503858:
      return { width: readUint24(view, 24) + 1, height: readUint24(view, 27) + 1 };
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      if (view.getUint8(20) !== 0x2f) return undefined;
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503820:
      if (readUint24(view, 23) !== 0x2a019d) return undefined;
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
}

function readUint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
}

/** JPEG: segments with marker and length, up to the start of frame with the size (ITU-T T.81, B.2.2). */
function readJpegSize(view: DataView): Size | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at += 1;
    else if (isStartOfFrame(marker)) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    else if (marker === 0xd9 || marker === 0xda) return undefined;
    else at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return undefined;
}

function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
