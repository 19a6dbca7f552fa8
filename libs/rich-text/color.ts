/** Reads the colour of text: exact for Word, and as one of a few readable colours for the page. */
import { namedColors } from './named-colors.ts';
import type { RichText } from './tree.ts';

/** The colours of the page; the first twelve are 30 degrees of hue apart. Its style sheet defines each of them. */
export const colorNames = [
  'red',
  'orange',
  'yellow',
  'lime',
  'green',
  'teal',
  'cyan',
  'sky',
  'blue',
  'violet',
  'magenta',
  'pink',
  'gray',
] as const;

/** The name of a colour of the page. */
export type ColorName = (typeof colorNames)[number];

/** Longer values are not colours. */
const maxLength = 64;
const rgb = /^rgba?\(\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*(?:[,/]\s*[\d.]{1,8}%?\s*)?\)$/;

/** The colour of a leaf, from its `textStyle` mark, as "#rrggbb"; undefined if it has none that is understood. */
export function getColor(leaf: RichText): string | undefined {
  for (const mark of leaf.marks ?? []) {
    const color = mark.type === 'textStyle' ? parseColor(mark.attrs?.color) : undefined;
    if (color !== undefined) return color;
  }
  return undefined;
}

/**
 * Parses `#rgb`, `#rrggbb`, `rgb()` with numbers, or a CSS colour name to "#rrggbb"; else undefined. Ignores
 * transparency.
 */
export function parseColor(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > maxLength) return undefined;
  const written = value.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(written)) return written;
  if (/^#[0-9a-f]{3}$/.test(written)) return written.replace(/[0-9a-f]/g, '$&$&');
  const named = namedColors.get(written);
  if (named !== undefined) return `#${named}`;
  const parts = rgb.exec(written)?.slice(1, 4).map(Number);
  if (!parts || parts.some((part) => part > 255)) return undefined;
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** The closest colour of the page for "#rrggbb"; undefined for dark grays, which are the colour of all text. */
export function getColorName(color: string): ColorName | undefined {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const max = Math.max(red, green, blue);
  const chroma = max - Math.min(red, green, blue);
  if (chroma < 32) return max < 96 ? undefined : 'gray';
  return colorNames[Math.round(getHue(red, green, blue, max, chroma) / 30) % 12];
}

/** The hue in degrees, 0 to 360 (the formula of HSL). */
function getHue(red: number, green: number, blue: number, max: number, chroma: number): number {
  if (max === red) return (((green - blue) / chroma + 6) % 6) * 60;
  if (max === green) return ((blue - red) / chroma + 2) * 60;
  return ((red - green) / chroma + 4) * 60;
}
