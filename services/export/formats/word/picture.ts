/** A picture in the text, never larger than the column it stands in. */
import type { RichText } from '#libs/rich-text';
import { escapeLine } from '../opc/xml-text.ts';
import { addPicture, type BodyWriter, type Position } from './body-writer.ts';

/** English Metric Units: 914,400 an inch; a pixel is 1/96 inch, a twip 1/1,440. */
const EMU_PER_PIXEL = 9_525;
const EMU_PER_TWIP = 635;

type Size = { width: number; height: number };

/** The picture as a run; its size is the one asked for or its own, made to fit. */
export function renderPicture(
  pen: BodyWriter,
  leaf: RichText,
  image: Size & { mime: string; bytes: Uint8Array },
  alt: string,
  place: Position,
): string {
  const id = addPicture(pen, String(leaf.attrs?.src), image.mime, image.bytes);
  const { width, height } = fitInto(getRequestedSize(leaf, image), {
    width: Math.max(place.width - place.left, 100) * EMU_PER_TWIP,
    height: pen.plan.room.height * EMU_PER_TWIP * 0.9,
  });
  pen.drawings += 1;
  const number = pen.plan.nextDrawingId + pen.drawings - 1;
  const name = `name="Picture ${pen.drawings}"`;
  const extent = `cx="${width}" cy="${height}"`;
  const A = 'http://schemas.openxmlformats.org/drawingml/2006';
  return (
    `<w:r><w:drawing><wp:inline xmlns:wp="${A}/wordprocessingDrawing" distT="0" distB="0" distL="0" distR="0"><wp:extent ${extent}/>` +
    `<wp:docPr id="${number}" ${name} descr="${escapeLine(alt)}"/>` +
    `<a:graphic xmlns:a="${A}/main"><a:graphicData uri="${A}/picture"><pic:pic xmlns:pic="${A}/picture">` +
    `<pic:nvPicPr><pic:cNvPr id="${number}" ${name}/><pic:cNvPicPr/></pic:nvPicPr>` +
    `<pic:blipFill><a:blip r:embed="${id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>` +
    `<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext ${extent}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr>` +
    '</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
  );
}

/** The size in EMU that the attributes ask for; one side alone keeps the picture's shape. */
function getRequestedSize(leaf: RichText, { width, height }: Size): Size {
  const ownWidth = parsePixels(leaf.attrs?.width);
  const ownHeight = parsePixels(leaf.attrs?.height);
  const scaled = {
    width: ownWidth ?? (ownHeight ? (ownHeight * width) / height : width),
    height: ownHeight ?? (ownWidth ? (ownWidth * height) / width : height),
  };
  return { width: scaled.width * EMU_PER_PIXEL, height: scaled.height * EMU_PER_PIXEL };
}

function parsePixels(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number.parseFloat(value) : value;
  return typeof number === 'number' && number >= 1 && number <= 10_000 ? number : undefined;
}

function fitInto({ width, height }: Size, room: Size): Size {
  const scale = Math.min(1, room.width / width, room.height / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}
