/** Distributes boxes over pages as Word does: headings stay with their text, and no row is split. */

/** A paragraph or table row; distances in twips. */
export type Box = {
  lines: number;
  lineHeight: number;
  before?: number;
  after?: number;
  /** Between paragraphs of one style there is no space (contextual spacing). */
  style?: 'bullet' | 'number';
  keepNext?: boolean;
  isUnbreakable?: boolean;
  /** The height of the header rows, which are repeated above the row on a new page. */
  headerHeight?: number;
  /** Whether the page of this box is recorded. */
  isEntry?: boolean;
};

/** The state of the pages so far. */
export type PageFlow = {
  add(box: Box): void;
  /** The number of the current page. */
  page(): number;
  /** The pages of the entries, in their order. */
  entries: readonly number[];
};

/** Lines of a paragraph that stay together at the end and the start of a page (widow control). */
const MIN_LINES = 2;
/** Rounding of programs, twips. */
const TOLERANCE = 8;

/** Starts at `offset` twips below the top of a page. */
export function createPageFlow(height: number, { page: firstPage = 1, offset = 0 } = {}): PageFlow {
  let page = firstPage;
  let used = offset;
  let last: Box | undefined;
  let chain: Box[] = [];
  const entries: number[] = [];

  return {
    add(box) {
      chain.push(box);
      if (box.keepNext) return;
      placeAll(chain);
      chain = [];
    },
    page: () => page,
    entries,
  };

  function placeAll(boxes: readonly Box[]): void {
    let needed = 0;
    let previous = used === 0 ? undefined : last;
    for (const box of boxes) {
      const isLast = box === boxes.at(-1);
      needed += getGap(previous, box) + getFirstLines(box, isLast) * box.lineHeight;
      previous = box;
    }
    if (used > 0 && used + needed > height + TOLERANCE && needed <= height) startPage(boxes[0]?.headerHeight);
    for (const box of boxes) place(box);
  }

  function place(box: Box): void {
    const gap = used === 0 ? 0 : getGap(last, box);
    let rest = box.lines;
    let fit = Math.floor((height + TOLERANCE - used - gap) / box.lineHeight);
    if (fit < getFirstLines(box, true) && used > 0) {
      startPage(box.headerHeight);
      fit = Math.floor((height + TOLERANCE - used) / box.lineHeight);
    } else used += gap;
    if (box.isEntry) entries.push(page);
    while (rest > fit) {
      rest -= Math.max(1, Math.min(fit, rest - MIN_LINES));
      startPage();
      fit = Math.floor((height + TOLERANCE) / box.lineHeight) || 1;
    }
    used += rest * box.lineHeight;
    last = box;
  }

  function startPage(headerHeight = 0): void {
    page += 1;
    used = headerHeight;
    last = undefined;
  }
}

/** The lines of a box that must be on its first page. */
function getFirstLines({ lines, isUnbreakable }: Box, isLast: boolean): number {
  if (!isLast || isUnbreakable || lines <= MIN_LINES + 1) return lines;
  return MIN_LINES;
}

/** The space between two boxes is the larger one of the two. */
function getGap(previous: Box | undefined, box: Box): number {
  if (!previous) return 0;
  if (box.style !== undefined && previous.style === box.style) return 0;
  return Math.max(previous.after ?? 0, box.before ?? 0);
}
