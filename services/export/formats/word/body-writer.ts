/** What one rendering gathers while it writes: links, pictures, list numbers; and the room that blocks are written in. */
import { escapeXml } from '../opc/xml-text.ts';
import type { TemplatePlan } from '../template/plan.ts';

export type Picture = { id: string; part: string; mime: string; bytes: Uint8Array };

/** One for each rendering; `links` and `pictures` are by target and source. */
export type BodyWriter = {
  plan: TemplatePlan;
  links: Map<string, string>;
  pictures: Map<string, Picture>;
  lists: string[];
  drawings: number;
};

/**
 * Where a block stands, in twips: `base` is the left edge that lists count from, `left` that of text, `width` is the
 * column's; `level` is the list level to come. `looks` are the surroundings that change how text looks.
 */
export type Position = {
  base: number;
  left: number;
  width: number;
  level: number;
  context: { quote?: boolean; cell?: boolean; head?: boolean };
};

/** Text has at least this width, however far in it stands: an inch, in twips; in a narrow column half of it. */
const MIN_TEXT_WIDTH = 1_440;

/** So far in from the left as asked for, as long as there is room for text. */
export function limitIndent({ width, left }: Pick<Position, 'width' | 'left'>, wanted: number): number {
  return Math.min(wanted, Math.max(width - Math.min(MIN_TEXT_WIDTH, Math.floor(width / 2)), left));
}

/** A pen for one rendering into a template. */
export function createBodyWriter(plan: TemplatePlan): BodyWriter {
  return { plan, links: new Map(), pictures: new Map(), lists: [], drawings: 0 };
}

/** The relationship id of a link; each target has one. */
export function addLink(pen: BodyWriter, href: string): string {
  const id = pen.links.get(href) ?? `${pen.plan.names}Link${pen.links.size + 1}`;
  pen.links.set(href, id);
  return id;
}

/** The relationship id of a picture; each source is kept once. */
export function addPicture(pen: BodyWriter, src: string, mime: string, bytes: Uint8Array): string {
  const known = pen.pictures.get(src);
  if (known) return known.id;
  const number = pen.pictures.size + 1;
  const folder = pen.plan.main.slice(0, pen.plan.main.lastIndexOf('/') + 1);
  const part = `${folder}media/${pen.plan.names}-${number}.${mime === 'image/jpeg' ? 'jpg' : mime.slice(6)}`;
  const picture = { id: `${pen.plan.names}Image${number}`, part, mime, bytes };
  pen.pictures.set(src, picture);
  return picture.id;
}

/** The number of a new ordered list, which starts anew at `start` on its level. */
export function addOrderedList(pen: BodyWriter, level: number, start: number): number {
  const { nextNumId, orderedAbstractId } = pen.plan.lists;
  const numId = nextNumId + pen.lists.length;
  pen.lists.push(
    `<w:num w:numId="${numId}"><w:abstractNumId w:val="${orderedAbstractId}"/>` +
      `<w:lvlOverride w:ilvl="${level}"><w:startOverride w:val="${start}"/></w:lvlOverride></w:num>`,
  );
  return numId;
}

/** The relationships that the main part needs for what was written. */
export function renderRelationships(pen: BodyWriter): string {
  const kinds = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const one = (id: string, kind: string, target: string, more = '') =>
    `<Relationship Id="${id}" Type="${kinds}/${kind}" Target="${escapeXml(target)}"${more}/>`;
  const links = [...pen.links].map(([href, id]) => one(id, 'hyperlink', href, ' TargetMode="External"'));
  const pictures = [...pen.pictures.values()].map(({ id, part }) => one(id, 'image', `/${part}`));
  return [...links, ...pictures].join('');
}

/** The content types of the parts that were added. */
export function renderContentTypes(pen: BodyWriter): string {
  const xmlns = 'http://schemas.openxmlformats.org/package/2006/content-types';
  return [...pen.pictures.values()]
    .map(({ part, mime }) => `<Override xmlns="${xmlns}" PartName="/${part}" ContentType="${mime}"/>`)
    .join('');
}
