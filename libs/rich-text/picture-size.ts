/** Determines in which size a picture is shown. */
import type { RichText } from './tree.ts';

interface Size {
  width: number;
  height: number;
}

/** Returns the size that an image requests, or else the original one, in pixels. One side keeps the aspect ratio. */
export function getDisplaySize({ attrs }: RichText, original: Size): Size {
  const [width, height] = [parsePixels(attrs?.width), parsePixels(attrs?.height)];
  return {
    width: width ?? (height ? (height * original.width) / original.height : original.width),
    height: height ?? (width ? (width * original.height) / original.width : original.height),
  };
}

/** Returns a requested width or height in pixels; undefined if it is missing or not understood. */
export function parsePixels(value: unknown): number | undefined {
  const isLength = typeof value === 'string' && /^\d+(\.\d+)?(px)?$/.test(value);
  const number = isLength ? Number.parseFloat(value) : value;
  return typeof number === 'number' && number >= 1 && number <= 10_000 ? number : undefined;
}
