/**
 * Checks the structure of a picture and returns it without metadata and trailing bytes. The pixels are not decoded
 * and not encoded again: the parts that decoders need are copied as they are.
 */
import { Buffer } from 'node:buffer';
import { startsWith } from './byte-reader.ts';
import { type PictureFault, PictureRejected } from './fault.ts';
import { cleanGif } from './gif.ts';
import { cleanJpeg } from './jpeg.ts';
import { cleanPng, pngSignature } from './png.ts';

export type PictureType = 'image/png' | 'image/jpeg' | 'image/gif';

/** A picture without metadata. Width and height are those of the upright picture, in pixels. */
export interface Picture {
  mediaType: PictureType;
  width: number;
  height: number;
  bytes: Uint8Array;
}

/** The cleaned picture, or why the file is not accepted. */
export type CleanedPicture = { ok: true; picture: Picture } | { ok: false; fault: PictureFault };

/**
 * Removes EXIF except the orientation, XMP, comments, text, previews, times, unknown parts and bytes after the end.
 * Color profiles and animations stay. The first bytes decide the type. A cleaned picture is cleaned to the same bytes.
 */
export function cleanPicture(bytes: Uint8Array): CleanedPicture {
  try {
    const mediaType = getType(bytes);
    const { width, height, parts } = cleaners[mediaType](bytes);
    return { ok: true, picture: { mediaType, width, height, bytes: Buffer.concat(parts) } };
  } catch (error) {
    if (!(error instanceof PictureRejected)) throw error;
    return { ok: false, fault: error.fault };
  }
}

const cleaners = { 'image/png': cleanPng, 'image/jpeg': cleanJpeg, 'image/gif': cleanGif };

function getType(bytes: Uint8Array): PictureType {
  if (startsWith(bytes, pngSignature)) return 'image/png';
  if (startsWith(bytes, '\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) return 'image/gif';
  throw new PictureRejected('unsupported_type');
}
