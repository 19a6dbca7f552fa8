/** Determines in which size a picture is shown. */
import type { RichText } from './tree.ts';

interface Size {
  width: number;
  height: number;
}

/** Returns the size in pixels that an image requests, or its own. If it requests one side, the aspect ratio is kept. */
export function getDisplaySize({ attrs }: RichText, own: Size): Size {
  const [width, height] = [parsePixels(attrs?.width), parsePixels(attrs?.height)];
  return {
    width: width ?? (height ? (height * own.width) / own.height : own.width),
    height: height ?? (width ? (width * own.height) / own.width : own.height),
  };
}

/** Returns a requested width or height in pixels; undefined if it is missing or not understood. */
export function parsePixels(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number.parseFloat(value) : value;
  return typeof number === 'number' && number >= 1 && number <= 10_000 ? number : undefined;
}
