/** Finds the pictures of a Word file: which part they are, their alternative text and their size on paper. */
import { attribute, R, walkElements, type XmlElement } from '#libs/opc';
import type { TextPart, WordParts } from './word-package.ts';

/** A picture in a Word file. `bytes` is undefined if the file is missing or elsewhere. Sizes are in pixels. */
export interface WordPicture {
  bytes: Uint8Array | undefined;
  alt: string;
  width?: number;
  height?: number;
}

const emusPerPixel = 9_525;
/** Pixels for one unit of VML. */
const vmlUnits: Record<string, number> = { px: 1, pt: 96 / 72, in: 96, cm: 96 / 2.54, mm: 96 / 25.4 };

/** Returns the pictures of a drawing or of a VML picture, in order. A chart or shape has none. */
export function readPictures(drawing: XmlElement, part: TextPart, parts: WordParts): WordPicture[] {
  const pictures: WordPicture[] = [];
  let [alt, size]: [string, Pick<WordPicture, 'width' | 'height'>] = ['', {}];
  for (const { element } of walkElements(drawing)) {
    switch (element.local) {
      case 'docPr':
        alt = attribute(element, 'descr', '') || attribute(element, 'title', '') || '';
        break;
      case 'extent':
        size = toSize(
          Number(attribute(element, 'cx', '')),
          Number(attribute(element, 'cy', '')),
          emusPerPixel,
        );
        break;
      case 'shape':
        alt = attribute(element, 'alt', '') ?? '';
        size = readVmlSize(attribute(element, 'style', '') ?? '');
        break;
      case 'blip':
      case 'imagedata': {
        const id =
          attribute(element, 'embed', R) ?? attribute(element, 'id', R) ?? attribute(element, 'link', R);
        if (id === undefined) break;
        const target = part.relationships.get(id)?.part;
        const bytes = target === undefined ? undefined : parts.getFile(target)?.bytes;
        pictures.push({ bytes, alt: alt.trim(), ...size });
      }
    }
  }
  return pictures;
}

function readVmlSize(style: string): Pick<WordPicture, 'width' | 'height'> {
  const read = (name: string) => {
    const match = new RegExp(`(?:^|;)\\s*${name}:\\s*([0-9.]{1,10})(px|pt|in|cm|mm)`, 'i').exec(style);
    return Number(match?.[1]) * (vmlUnits[match?.[2]?.toLowerCase() ?? ''] ?? Number.NaN);
  };
  return toSize(read('width'), read('height'), 1);
}

function toSize(width: number, height: number, unit: number): Pick<WordPicture, 'width' | 'height'> {
  const [w, h] = [Math.round(width / unit), Math.round(height / unit)];
  return w > 0 && h > 0 && w <= 10_000 && h <= 10_000 ? { width: w, height: h } : {};
}
