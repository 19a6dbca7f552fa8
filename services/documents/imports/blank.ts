/** Recognizes content of which nothing is imported, such as an anchor, an empty paragraph or the head of HTML. */
import { fromHast, type HastDrop, type HastNode } from '#libs/rich-text';
import type { ReportCollector } from './report.ts';

/** Returns true for such content. What is dropped from it, such as scripts, is counted in `report`. */
export function isBlank(content: readonly HastNode[], report?: ReportCollector): boolean {
  const dropped: HastDrop[] = [];
  const blocks = fromHast(content, {
    toImage: () => '[picture]',
    onDrop: (what) => dropped.push(what),
    onFlatten: () => undefined,
  });
  if (blocks.length > 0) return false;
  for (const what of dropped) report?.drop(what);
  return true;
}
