/** Estimates the height that headings and captions leave to a picture on a page. Distances are in twips. */
import { countLines } from './text-width.ts';

/** The lines of a heading or caption, and the space around them. Other templates may have large fonts. */
const HEADING = { size: 16, line: 480, space: 480 };
const CAPTION = { size: 10, line: 300, space: 200 };
/** The largest share of a page that headings can take from a picture. */
const MAX_HEADING_SHARE = 0.5;

/** Estimates the height of a heading with its space; `width` is that of its text. */
export function estimateHeading(title: string, width: number): number {
  return estimate({ text: title, isBold: true }, width, HEADING);
}

/** Estimates the height of a picture's caption with its space, 0 without one. */
export function estimateCaption(caption: string, width: number): number {
  return caption === '' ? 0 : estimate({ text: caption }, width, CAPTION);
}

/** Returns the maximum height of a picture and its caption under headings of this height. */
export function getMaxPictureHeight(pageHeight: number, headings: number): number {
  return pageHeight - Math.min(headings, pageHeight * MAX_HEADING_SHARE);
}

function estimate(
  piece: { text: string; isBold?: boolean },
  width: number,
  { size, line, space }: typeof HEADING,
): number {
  return space + line * countLines([piece], (Math.max(width, 100) / 20 / size) * 1_000);
}
