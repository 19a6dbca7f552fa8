/** Limits the size of pictures in pixels, and the number of their parts. */
import { PictureRejected } from './fault.ts';

/** Above any camera picture; a few bytes that declare more pixels could exhaust the memory of a viewer. */
const maxPixels = 100_000_000;

/** Chunks, segments or blocks. Files have fewer by far, and millions of empty ones would block other requests. */
const maxParts = 20_000;

/** Throws for a picture without pixels, or with more than 100 megapixels. */
export function assertSize(width: number, height: number): void {
  if (width < 1 || height < 1) throw new PictureRejected('malformed');
  if (width * height > maxPixels) throw new PictureRejected('too_many_pixels');
}

/** Throws for a file with too many parts. */
export function assertPartCount(parts: number): void {
  if (parts > maxParts) throw new PictureRejected('malformed');
}
