/** Renders pictures, scaled down to the column and page if necessary. */
import { escapeLine } from '#libs/opc';
import { getDisplaySize, type RichText } from '#libs/rich-text';
import { addPicture, type BodyWriter, type Position } from './body-writer.ts';
import { estimateCaption } from './picture-height.ts';

/** English Metric Units (EMU): 914,400 per inch. A pixel is 1/96 inch, a twip 1/1,440 inch. */
const EMU_PER_PIXEL = 9_525;
export const EMU_PER_TWIP = 635;

/** The least height to which pictures are limited, twips. */
const MIN_HEIGHT = 720;

type Size = { width: number; height: number };

/** Renders a picture as a run; its size is the requested one or its own, limited to the text area. */
export function renderPicture(
  writer: BodyWriter,
  leaf: RichText,
  image: Size & { mime: string; bytes: Uint8Array },
  alt: string,
  position: Position,
): string {
  const caption = getCaption(leaf);
  if (caption !== '') writer.captions.push(caption);
  const id = addPicture(writer, String(leaf.attrs?.src), image.mime, image.bytes);
  return renderDrawing(writer, id, { ...getPictureSize(leaf, image, position), alt });
}

/** Returns the size of a picture in EMU: the requested one or its own, limited to the text area less its caption. */
export function getPictureSize(
  leaf: RichText,
  image: Size,
  { width, left, height }: Pick<Position, 'width' | 'left' | 'height'>,
): Size {
  const available = Math.max(height - estimateCaption(getCaption(leaf), width - left), MIN_HEIGHT);
  const shown = getDisplaySize(leaf, image);
  return fitInto(
    { width: shown.width * EMU_PER_PIXEL, height: shown.height * EMU_PER_PIXEL },
    {
      width: Math.max(width - left, 100) * EMU_PER_TWIP,
      height: available * EMU_PER_TWIP,
    },
  );
}

/** Returns the caption of a picture, which is its title; '' for a picture without one and for other leaves. */
export function getCaption({ type, attrs }: RichText): string {
  return type === 'image' && typeof attrs?.title === 'string' ? attrs.title.trim() : '';
}

/** Renders an added picture as a run; its size is in EMU. `properties` is the markup of its run properties. */
function renderDrawing(
  writer: BodyWriter,
  id: string,
  { width, height, alt, properties = '' }: Size & { alt: string; properties?: string },
): string {
  writer.drawings += 1;
  const number = writer.plan.nextDrawingId + writer.drawings - 1;
  const name = `name="Picture ${writer.drawings}"`;
  const extent = `cx="${width}" cy="${height}"`;
  const A = 'http://schemas.openxmlformats.org/drawingml/2006';
  return (
    `<w:r>${properties}<w:drawing><wp:inline xmlns:wp="${A}/wordprocessingDrawing" distT="0" distB="0" distL="0" distR="0"><wp:extent ${extent}/>` +
    `<wp:docPr id="${number}" ${name} descr="${escapeLine(alt)}"/>` +
    `<a:graphic xmlns:a="${A}/main"><a:graphicData uri="${A}/picture"><pic:pic xmlns:pic="${A}/picture">` +
    `<pic:nvPicPr><pic:cNvPr id="${number}" ${name}/><pic:cNvPicPr/></pic:nvPicPr>` +
    `<pic:blipFill><a:blip r:embed="${id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>` +
    `<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext ${extent}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr>` +
    '</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
  );
}

/** Renders a symbol beside text, a PNG in base64; its size is in twips. Readers skip it: the text says the same. */
export function renderSymbol(writer: BodyWriter, png: string, { width, height }: Size): string {
  const src = `data:image/png;base64,${png}`;
  const id = addPicture(writer, src, 'image/png', Buffer.from(png, 'base64'));
  const size = { width: width * EMU_PER_TWIP, height: height * EMU_PER_TWIP };
  return renderDrawing(writer, id, {
    ...size,
    alt: '',
    properties: '<w:rPr><w:position w:val="-2"/></w:rPr>',
  });
}

function fitInto({ width, height }: Size, limit: Size): Size {
  const scale = Math.min(1, limit.width / width, limit.height / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}
