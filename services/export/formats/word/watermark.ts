/** Renders the watermark of drafts and of versions that are no longer in force, for the header of each page. */
import { escapeLine } from '#libs/opc';

/** A width-to-height ratio of the letters that fits Arial in capitals. */
const LETTER_RATIO = 0.72;
/** The longest text, in points: the diagonal of the text area of A4 with a margin. */
const MAX_WIDTH = 520;
const MAX_HEIGHT = 120;

/**
 * Renders a diagonal text behind the text of the page, in the form in which Word writes its own watermarks (VML). Its
 * grey is dark enough for a photocopy and light enough to read black text on it. Empty without a text.
 */
export function renderWatermark(text: string): string {
  if (text === '') return '';
  const height = Math.min(MAX_HEIGHT, MAX_WIDTH / (text.length * LETTER_RATIO));
  const width = text.length * LETTER_RATIO * height;
  const style = [
    'position:absolute;margin-left:0;margin-top:0',
    `width:${width.toFixed(0)}pt;height:${height.toFixed(0)}pt;rotation:315;z-index:-251658752`,
    'mso-position-horizontal:center;mso-position-horizontal-relative:margin',
    'mso-position-vertical:center;mso-position-vertical-relative:margin',
  ].join(';');
  return (
    `<w:pict xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">${TEXT_SHAPE}` +
    `<v:shape id="PowerPlusWaterMarkObject1" o:spid="_x0000_s1025" type="#_x0000_t136" style="${style}" o:allowincell="f" fillcolor="#c4c4c4" stroked="f">` +
    `<v:textpath style="font-family:&quot;Arial&quot;;font-size:1pt;font-weight:bold" string="${escapeLine(text)}"/></v:shape></w:pict>`
  );
}

/** The definition of shape type 136, plain text, as Word writes it. */
const TEXT_SHAPE =
  '<v:shapetype id="_x0000_t136" coordsize="21600,21600" o:spt="136" adj="10800" path="m@7,l@8,m@5,21600l@6,21600e"><v:formulas>' +
  [
    ...['sum #0 0 10800', 'prod #0 2 1', 'sum 21600 0 @1', 'sum 0 0 @2', 'sum 21600 0 @3', 'if @0 @3 0'],
    ...['if @0 21600 @1', 'if @0 0 @2', 'if @0 @4 21600', 'mid @5 @6', 'mid @8 @5', 'mid @7 @8'],
    ...['mid @6 @7', 'sum @6 0 @5'],
  ]
    .map((equation) => `<v:f eqn="${equation}"/>`)
    .join('') +
  '</v:formulas><v:path textpathok="t" o:connecttype="custom" o:connectlocs="@9,0;@10,10800;@11,21600;@12,10800" o:connectangles="270,180,90,0"/>' +
  '<v:textpath on="t" fitshape="t"/><v:handles><v:h position="#0,bottomRight" xrange="6629,14971"/></v:handles><o:lock v:ext="edit" text="t" shapetype="t"/></v:shapetype>';
