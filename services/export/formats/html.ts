/** Renders a document as one HTML file with its pictures. */
import { randomBytes } from 'node:crypto';
import { getPageLanguage, htmlFile, type PageControl } from '#libs/html-page';
import { type FindPicture, getAssetId } from '#libs/rich-text';
import { groupByParent, toHtmlMeta } from '../../documents/contract.ts';
import { getApprovedAt, type NodeRow } from '../rules.ts';
import type { ExportSource } from '../store/documents.ts';
import type { AssetImages } from './document.ts';

/** The uploaded pictures, and the bytes that all their places in the file may have. */
export interface PictureOptions {
  assets: AssetImages;
  maxPictureBytes: number;
}

/** Renders the file. Returns undefined if its pictures are too large: each place of a picture has its bytes. */
export function renderHtml(
  { document, organization }: ExportSource,
  rows: readonly NodeRow[],
  { assets, maxPictureBytes }: PictureOptions,
): Uint8Array | undefined {
  const pictures = new PictureWriter(assets);
  const file = htmlFile({
    document,
    organization: organization.name,
    children: groupByParent(rows),
    control: getControl({ document, organization }),
    language: getPageLanguage(document.language ?? organization.language),
    findPicture: pictures.find,
    meta: toHtmlMeta(document),
  });
  const parts: Uint8Array[] = [];
  for (const piece of file) {
    parts.push(...pictures.fill(piece));
    if (pictures.bytes > maxPictureBytes) return undefined;
  }
  return Buffer.concat(parts);
}

/** Writes pictures as `data:` URIs. While text is rendered, a short mark stands for each: copies of it are cheap. */
class PictureWriter {
  /** The total size of the pictures in all places where they are shown. */
  bytes = 0;
  private readonly assets: AssetImages;
  private readonly mark = randomBytes(16).toString('hex');
  private readonly uris = new Map<string, Uint8Array>();

  constructor(assets: AssetImages) {
    this.assets = assets;
  }

  readonly find: FindPicture = (src) => {
    const id = getAssetId(src);
    const image = id === undefined ? undefined : this.assets.get(id);
    if (!image) return undefined;
    const { width, height } = image;
    return { src: `${this.mark}${id}`, width, height };
  };

  /** Returns the text as UTF-8, with the pictures in place of their marks. */
  fill(text: string): Uint8Array[] {
    const [first = '', ...others] = text.split(this.mark);
    const parts: Uint8Array[] = [Buffer.from(first)];
    for (const other of others) {
      const id = other.slice(0, 64);
      this.bytes += this.assets.get(id)?.bytes.byteLength ?? 0;
      parts.push(this.toUri(id), Buffer.from(other.slice(id.length)));
    }
    return parts;
  }

  private toUri(id: string): Uint8Array {
    const image = this.assets.get(id);
    const known = this.uris.get(id);
    if (known || !image) return known ?? new Uint8Array();
    const uri = Buffer.from(`data:${image.mime};base64,${Buffer.from(image.bytes).toString('base64')}`);
    this.uris.set(id, uri);
    return uri;
  }
}

/** The dates of approval and next review, if the organization shows them. Only a published version has them. */
function getControl({ document, organization }: ExportSource): PageControl | undefined {
  if (!organization.show_control || document.status !== 'published') return undefined;
  const approvedAt = getApprovedAt(document);
  return {
    approved_at: approvedAt === null ? null : new Date(approvedAt),
    review_due_at: document.review_due_at ?? null,
  };
}
