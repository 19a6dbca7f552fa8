/** Collects the links, pictures and lists of one rendering, and limits indents to the text area. */
import { escapeXml } from '#libs/opc';
import { type Direction, getAssetId, type Image, parseImage, type RichText } from '#libs/rich-text';
import type { AssetImages, WordDocument } from '../document.ts';
import type { TemplatePlan } from '../template/plan.ts';
import { findDocumentDirection } from './direction.ts';

/** A picture to add: its relationship id, part name, media type and bytes. */
export type Picture = { id: string; part: string; mime: string; bytes: Uint8Array };

/** An ordered list whose items are being rendered; pattern 0 is that of the template, the others are copies of it. */
type OpenList = { level: number; pattern: number };

/** The state of one rendering; `links` are by target, `pictures` by source, `lists` is markup. */
export type BodyWriter = {
  plan: TemplatePlan;
  /** The direction of what the service writes itself, and of text without letters. */
  direction: Direction;
  links: Map<string, string>;
  pictures: Map<string, Picture>;
  lists: string[];
  /** The ordered lists around the current block, the innermost last. */
  openLists: OpenList[];
  /** The number of copies of the pattern of ordered lists that the body needs. */
  patterns: number;
  drawings: number;
  /** The captions of pictures that were rendered and have no caption yet. */
  captions: string[];
  /** The number of bookmarks. */
  bookmarks: number;
  assets: AssetImages;
};

/**
 * The position of a block; distances are in twips. `base` is the left edge for lists, `left` that for text,
 * `width` the width of the column, `height` the maximum height of a picture, `level` the next list level.
 * `direction` is that of text without letters. `context` is what encloses the block and changes its formatting;
 * `fontSize` is in points.
 */
export type Position = {
  base: number;
  left: number;
  width: number;
  height: number;
  level: number;
  direction: Direction;
  context: { quote?: boolean; cell?: boolean; head?: boolean; fontSize?: number | undefined };
};

/** Renders nested blocks. Lists and tables receive it, because blocks may contain lists and tables in turn. */
export type RenderBlocks = (writer: BodyWriter, nodes: RichText[], position: Position) => string;

/** Minimum width of indented text: one inch, in twips; in a narrow column, half its width. */
const MIN_TEXT_WIDTH = 1_440;

/** Limits an indent so that the minimum text width remains. */
export function limitIndent({ width, left }: Pick<Position, 'width' | 'left'>, indent: number): number {
  return Math.min(indent, Math.max(width - Math.min(MIN_TEXT_WIDTH, Math.floor(width / 2)), left));
}

/** Creates the state of one rendering into a template. */
export function createBodyWriter(plan: TemplatePlan, document: WordDocument): BodyWriter {
  const { assets = new Map() } = document;
  const counts = { patterns: 0, drawings: 0, bookmarks: 0 };
  const lists = { lists: [], openLists: [] };
  const direction = findDocumentDirection(document);
  return {
    plan,
    direction,
    assets,
    links: new Map(),
    pictures: new Map(),
    ...lists,
    captions: [],
    ...counts,
  };
}

/** Adds a link and returns its relationship id; equal targets share one. */
export function addLink(writer: BodyWriter, href: string): string {
  const id = writer.links.get(href) ?? `${writer.plan.names}Link${writer.links.size + 1}`;
  writer.links.set(href, id);
  return id;
}

/** Returns the picture with this address, if a Word file can contain it. */
export function findImage(assets: AssetImages | undefined, src: unknown): Image | undefined {
  const id = getAssetId(src);
  return id === undefined ? parseImage(src) : assets?.get(id);
}

/** Adds a picture and returns its relationship id; equal sources share one. */
export function addPicture(writer: BodyWriter, src: string, mime: string, bytes: Uint8Array): string {
  const existing = writer.pictures.get(src);
  if (existing) return existing.id;
  const number = writer.pictures.size + 1;
  const folder = writer.plan.main.slice(0, writer.plan.main.lastIndexOf('/') + 1);
  const part = `${folder}media/${writer.plan.names}-${number}.${mime === 'image/jpeg' ? 'jpg' : mime.slice(6)}`;
  const picture = { id: `${writer.plan.names}Image${number}`, part, mime, bytes };
  writer.pictures.set(src, picture);
  return picture.id;
}

/** Renders the relationships of the added links and pictures. */
export function renderRelationships(writer: BodyWriter): string {
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const render = (id: string, kind: string, target: string, more = '') =>
    `<Relationship Id="${id}" Type="${types}/${kind}" Target="${escapeXml(target)}"${more}/>`;
  const links = [...writer.links].map(([href, id]) =>
    render(id, 'hyperlink', href, ' TargetMode="External"'),
  );
  const pictures = [...writer.pictures.values()].map(({ id, part }) => render(id, 'image', `/${part}`));
  return [...links, ...pictures].join('');
}

/** Renders the content types of the added pictures. */
export function renderContentTypes(writer: BodyWriter): string {
  const xmlns = 'http://schemas.openxmlformats.org/package/2006/content-types';
  return [...writer.pictures.values()]
    .map(({ part, mime }) => `<Override xmlns="${xmlns}" PartName="/${part}" ContentType="${mime}"/>`)
    .join('');
}
