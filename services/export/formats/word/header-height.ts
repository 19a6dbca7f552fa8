/** Calculates the height of the built-in template's header, which a long title makes higher than its margin. */
import type { WordDocument } from '../document.ts';
import type { TemplatePlan } from '../template/plan.ts';
import { measureTextBox } from './box-sizes.ts';
import { formatStatus, formatVersion } from './placeholder-values.ts';

/** The size of its text in points, and the widths of its columns in twips. */
const SIZE = 8.5;
const TITLE_WIDTH = 6_000;
const VERSION_WIDTH = 3_026;
/** The top margin, and the edge, the space and the line of the header; twips. */
const TOP_MARGIN = 1_440;
const AROUND_TEXT = 708 + 241;

/** Returns the plan with the height that a high header leaves to the text. Headers of other templates are unknown. */
export function fitHeader(plan: TemplatePlan, { title, version, record }: WordDocument): TemplatePlan {
  if (!plan.hasContents) return plan;
  const measure = (text: string, width: number, isBold = false) => {
    const { lines, lineHeight } = measureTextBox(text, width, SIZE, { isBold });
    return lines * lineHeight;
  };
  const right =
    measure(formatVersion(version), VERSION_WIDTH) + measure(formatStatus(record), VERSION_WIDTH, true);
  const header = AROUND_TEXT + Math.max(measure(title, TITLE_WIDTH), right);
  const { width, height } = plan.room;
  return { ...plan, room: { width, height: height - Math.max(0, header - TOP_MARGIN) } };
}
