/** Reads the pictures that an imported file contains. Nothing is ever fetched. */
import { createHash } from 'node:crypto';
import type { Element } from 'hast';
import { type CleanedPicture, cleanPicture, type Picture } from '#libs/pictures';
import { type RichText, toAssetSource } from '#libs/rich-text';
import { maxAssetBytes } from '../asset-shapes.ts';
import type { ReportCollector, WarningCode } from './report.ts';

/** A picture to store. `id` is the SHA-256 of its bytes, 64 hex digits. */
export type ImportedPicture = Picture & { id: string };

/** The file of a picture, with its size on paper in pixels, if it has one; undefined if there is no such file. */
export interface PictureFile {
  bytes: Uint8Array | undefined;
  alt?: string;
  width?: number;
  height?: number;
  /** Whether the file shows only a part of the picture. */
  isCropped?: boolean;
}

const dataUri = /^data:image\/[a-z0-9.+-]{1,40};base64,/i;

/** Finds the file of a picture by its `src`. */
export type FindPicture = (src: string) => PictureFile | undefined;

/** Collects the pictures of one import. Equal pictures are one. */
export class PictureCollector {
  private readonly found = new Map<string, ImportedPicture>();
  private readonly cleaned = new Map<Uint8Array, CleanedPicture>();
  private readonly find: FindPicture;
  private readonly report: ReportCollector;

  constructor(find: FindPicture, report: ReportCollector) {
    this.find = find;
    this.report = report;
  }

  /** Returns the image node for an `img` element, or the text in its place. `path` is that of the node. */
  toImage(element: Element, path: string): RichText | string {
    const src = String(element.properties.src ?? '').trim();
    const file = this.find(src) ?? readDataUri(src);
    const alt = file?.alt ?? String(element.properties.alt ?? '').trim();
    const refuse = (code: WarningCode) => {
      // a missing file is found by its name, and data in the file have none
      const name = file || src.startsWith('data:') ? '' : src.slice(0, 80);
      this.report.warn(code, { path, detail: name || alt });
      return alt === '' ? '[picture]' : `[picture: ${alt}]`;
    };
    if (!file && /^https:\/\//i.test(src)) {
      this.report.warn('picture_remote', { path, detail: src });
      return createImage(src, alt, element);
    }
    if (!file?.bytes) return refuse('picture_missing');
    if (file.bytes.byteLength > maxAssetBytes) return refuse('picture_too_large');
    const cleaned = this.clean(file.bytes);
    if (!cleaned.ok)
      return refuse(cleaned.fault === 'too_many_pixels' ? 'picture_too_large' : 'picture_unsupported');
    if (file.isCropped) this.report.warn('picture_cropped', { path, detail: alt });
    const id = createHash('sha256').update(cleaned.picture.bytes).digest('hex');
    this.found.set(id, { ...cleaned.picture, id });
    return createImage(toAssetSource(id), alt, element, file);
  }

  /** The pictures to store. */
  list(): ImportedPicture[] {
    return [...this.found.values()];
  }

  private clean(bytes: Uint8Array): CleanedPicture {
    const known = this.cleaned.get(bytes) ?? cleanPicture(bytes);
    this.cleaned.set(bytes, known);
    return known;
  }
}

function createImage(src: string, alt: string, element: Element, file?: PictureFile): RichText {
  const { title } = element.properties;
  const width = file?.width ?? readPixels(element.properties.width);
  const height = file?.height ?? readPixels(element.properties.height);
  const attrs = {
    src,
    ...(alt !== '' && { alt }),
    ...(typeof title === 'string' && title !== '' && { title }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
  };
  return { type: 'image', attrs };
}

function readPixels(value: unknown): number | undefined {
  const pixels = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isInteger(pixels) && pixels > 0 && pixels <= 10_000 ? pixels : undefined;
}

function readDataUri(src: string): PictureFile | undefined {
  const start = dataUri.exec(src)?.[0].length;
  return start === undefined ? undefined : { bytes: Buffer.from(src.slice(start), 'base64') };
}
