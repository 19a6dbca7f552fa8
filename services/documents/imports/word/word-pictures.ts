/** Finds the pictures of a Word file: which part they are, their alternative text and their size on paper. */
import { attribute, isElement, isW, R, type XmlElement } from '#libs/opc';
import { safeHref } from '#libs/rich-text';
import type { TextPart, WordParts } from './word-package.ts';

/** A picture in a Word file. `bytes` is undefined if the file is missing or elsewhere. Sizes are in pixels. */
export interface WordPicture {
  bytes: Uint8Array | undefined;
  /** The https address of a picture that is elsewhere. */
  link?: string;
  alt: string;
  width?: number;
  height?: number;
  /** Whether Word shows only a part of the picture. */
  isCropped?: boolean;
}

type Size = Pick<WordPicture, 'width' | 'height'>;

/** What the elements around a picture say about it. */
interface Frame {
  alt: string;
  size: Size;
  /** Pixels for one unit without a name in each direction, if a group of VML sets them. */
  scale?: [number, number];
}

const emusPerPixel = 9_525;
/** Pixels for one unit of VML. */
const vmlUnits: Record<string, number> = { px: 1, pt: 96 / 72, in: 96, cm: 96 / 2.54, mm: 96 / 25.4 };

/** Returns the pictures of a drawing or of a VML picture, in order, without those in its text boxes. */
export function readPictures(drawing: XmlElement, part: TextPart, parts: WordParts): WordPicture[] {
  const pictures: WordPicture[] = [];
  const readAll = (parent: XmlElement, frame: Frame) => {
    for (const element of parent.children.filter(isElement)) {
      if (isW(element, 'txbxContent')) continue;
      if (element.local === 'blip' || element.local === 'imagedata') {
        const picture = readPicture(element, part, parts);
        if (picture)
          pictures.push({ ...picture, alt: frame.alt, ...uncrop(frame.size, readCrop(element, parent)) });
      } else readAll(element, readFrame(element, frame));
    }
  };
  readAll(drawing, { alt: '', size: {} });
  return pictures;
}

function readPicture(element: XmlElement, part: TextPart, parts: WordParts) {
  const id = attribute(element, 'embed', R) ?? attribute(element, 'id', R) ?? attribute(element, 'link', R);
  if (id === undefined) return undefined;
  const relationship = part.relationships.get(id);
  const link = relationship?.external ? safeHref(relationship.target) : undefined;
  if (link?.startsWith('https:')) return { bytes: undefined, link };
  return { bytes: relationship?.part === undefined ? undefined : parts.getFile(relationship.part)?.bytes };
}

/** Which parts of a picture are cut off at the left, right, top and bottom. */
function readCrop(picture: XmlElement, parent: XmlElement): number[] {
  if (picture.local === 'blip') {
    const edges = child(parent, 'srcRect');
    return ['l', 'r', 't', 'b'].map((name) => parsePart(attribute(edges, name, ''), 100_000));
  }
  const names = ['cropleft', 'cropright', 'croptop', 'cropbottom'];
  return names.map((name) => parsePart(attribute(picture, name, ''), 1));
}

/** Parses a part of 1, which can be in percent or, with an f, in units of 1/65536. */
function parsePart(text: string | undefined, unit: number): number {
  const match = /^(-?[0-9.]{1,12})([f%]?)$/.exec(text ?? '0');
  const units = { f: 65_536, '%': 100 }[match?.[2] ?? ''] ?? unit;
  return (Number(match?.[1]) || 0) / units;
}

/** The size of a whole picture of which Word shows only a part in this size. */
function uncrop(
  size: Size,
  [left = 0, right = 0, top = 0, bottom = 0]: number[],
): Size & { isCropped: boolean } {
  const [across, down] = [1 - left - right, 1 - top - bottom];
  const whole = across > 0 && down > 0 ? toSize((size.width ?? 0) / across, (size.height ?? 0) / down) : {};
  return { ...whole, isCropped: [left, right, top, bottom].some((part) => part > 0) };
}

/** The frame of what is in an element. */
function readFrame(element: XmlElement, outer: Frame): Frame {
  switch (element.local) {
    case 'inline':
    case 'anchor':
      return readInline(element);
    case 'wgp':
    case 'wpc':
      // the size is that of the group or canvas, whose pictures can have other proportions
      return { ...outer, size: {} };
    case 'group':
    case 'shape':
    case 'rect':
      return readVmlFrame(element, outer);
    default:
      return outer;
  }
}

function readInline(element: XmlElement): Frame {
  const properties = child(element, 'docPr');
  const extent = child(element, 'extent');
  const alt = attribute(properties, 'descr', '') || attribute(properties, 'title', '') || '';
  const [width, height] = ['cx', 'cy'].map((name) => Number(attribute(extent, name, '')) / emusPerPixel);
  return { alt: alt.trim(), size: toSize(width, height) };
}

function readVmlFrame(element: XmlElement, { alt, scale }: Frame): Frame {
  const style = attribute(element, 'style', '') ?? '';
  const [width, height] = [readLength(style, 'width', scale?.[0]), readLength(style, 'height', scale?.[1])];
  const frame = { alt: attribute(element, 'alt', '')?.trim() || alt, size: toSize(width, height) };
  if (element.local !== 'group') return frame;
  const [across = Number.NaN, down = Number.NaN] = (attribute(element, 'coordsize', '') ?? '')
    .split(',')
    .map(Number);
  return { ...frame, size: {}, scale: [width / across, height / down] };
}

/** A length in pixels; NaN if it is missing. Only in a group, where `unit` is defined, it can have no unit. */
function readLength(style: string, name: string, unit = Number.NaN): number {
  const match = new RegExp(`(?:^|;)\\s*${name}:\\s*([0-9.]{1,10})([a-z]*)`, 'i').exec(style);
  const pixels = match?.[2] ? vmlUnits[match[2].toLowerCase()] : unit;
  return Number(match?.[1]) * (pixels ?? Number.NaN);
}

function toSize(width = Number.NaN, height = Number.NaN): Size {
  const [w, h] = [Math.round(width), Math.round(height)];
  return w > 0 && h > 0 && w <= 10_000 && h <= 10_000 ? { width: w, height: h } : {};
}

function child(element: XmlElement, local: string): XmlElement | undefined {
  return element.children.filter(isElement).find((each) => each.local === local);
}
