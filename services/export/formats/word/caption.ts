/** Renders the captions of pictures, which come from their titles. */
import { getDirection } from '#libs/rich-text';
import type { BodyWriter, Position } from './body-writer.ts';
import { getStyleProperties, renderParagraph } from './paragraph.ts';
import { renderTextRuns } from './runs.ts';

/**
 * Renders the captions of the pictures that were rendered since the last call, one paragraph each. The paragraph with
 * the pictures must be kept with the first of them.
 */
export function renderCaptions(writer: BodyWriter, position: Position, align?: unknown): string {
  if (writer.captions.length === 0) return '';
  const captions = writer.captions.splice(0);
  const style = getStyleProperties(writer.plan.styles.caption, position);
  return captions
    .map((caption, at) => {
      const direction = getDirection(caption) ?? position.direction;
      const keepNext = at < captions.length - 1;
      return renderParagraph({ ...style, keepNext, align, direction }, renderTextRuns(caption, direction));
    })
    .join('');
}
