/** Distributes boxes over pages as Word does: headings stay with their text, and no row is split. */

/** A paragraph or table row; distances in twips. */
export type Box = {
  lines: number;
  lineHeight: number;
  before?: number;
  after?: number;
  /** Between paragraphs of one style there is no space (contextual spacing). */
  style?: 'bullet' | 'number' | 'task' | undefined;
  keepNext?: boolean;
  isUnbreakable?: boolean;
  /** The height of the header rows, which are repeated above the row on a new page. */
  headerHeight?: number;
  /** The name of a heading or entry, whose page is recorded. */
  name?: string;
};

/** The state of the pages so far. */
export type PageFlow = {
  add(box: Box): void;
  /** Places headings without a text below, with which they would stay. */
  end(): void;
  /** The number of the current page. */
  page(): number;
  /** The pages of the boxes with a name. */
  pages: ReadonlyMap<string, number>;
  /**
   * The boxes with a name that start a page, but so close to the end of the one before that a program could put them
   * there. They need a page break.
   */
  breaks: ReadonlySet<string>;
};

/** Lines of a paragraph that stay together at the end and the start of a page (widow control). */
const MIN_LINES = 2;
/** Rounding of programs, twips. */
const TOLERANCE = 8;
/** How far the place of a box on its page may be from that in any program, twips: half a line. */
const UNCERTAINTY = 300;
/** The lines of a row that is higher than a page: programs break it between them. */
const ROW_LINE = 258;

/** Starts on a page with `used` twips of content, or with only the `space` above the first box. */
export function createPageFlow(
  height: number,
  { page: firstPage = 1, used: usedBefore = 0, space = 0 } = {},
): PageFlow {
  let page = firstPage;
  let used = usedBefore + space;
  let isEmpty = usedBefore === 0;
  let last: Box | undefined;
  let chain: Box[] = [];
  const pages = new Map<string, number>();
  const breaks = new Set<string>();

  const end = () => {
    placeAll(chain);
    chain = [];
  };

  return {
    add(box) {
      chain.push(box.lineHeight > height ? toLines(box) : box);
      if (!box.keepNext) end();
    },
    end,
    page: () => page,
    pages,
    breaks,
  };

  function placeAll(boxes: readonly Box[]): void {
    let needed = 0;
    let previous = last;
    for (const box of boxes) {
      const isLast = box === boxes.at(-1);
      needed += getGap(previous, box) + getFirstLines(box, isLast) * box.lineHeight;
      previous = box;
    }
    const { name, headerHeight } = boxes[0] ?? {};
    const rest = height - used - needed;
    const isNearEnd = name !== undefined && Math.abs(rest) <= UNCERTAINTY;
    if (!isEmpty && (isNearEnd || rest < -TOLERANCE)) {
      startPage(headerHeight);
      if (isNearEnd) {
        breaks.add(name);
        // unlike at the natural end of a page, the space above remains
        used = boxes[0]?.before ?? 0;
      }
    }
    for (const box of boxes) place(box);
  }

  function place(box: Box): void {
    const gap = getGap(last, box);
    let rest = box.lines;
    let fit = Math.floor((height + TOLERANCE - used - gap) / box.lineHeight);
    if (fit < getFirstLines(box, true) && !isEmpty) {
      startPage(box.headerHeight);
      fit = Math.floor((height + TOLERANCE - used) / box.lineHeight);
    } else used += gap;
    if (box.name !== undefined) pages.set(box.name, page);
    while (rest > fit) {
      rest -= Math.max(1, Math.min(fit, rest - MIN_LINES));
      startPage(box.headerHeight);
      fit = Math.floor((height + TOLERANCE - used) / box.lineHeight) || 1;
    }
    used += rest * box.lineHeight;
    isEmpty = false;
    last = box;
  }

  function startPage(headerHeight = 0): void {
    page += 1;
    used = headerHeight;
    isEmpty = true;
    last = undefined;
  }
}

/** Splits a row that is higher than a page. */
function toLines(box: Box): Box {
  return { ...box, lines: Math.ceil(box.lineHeight / ROW_LINE), lineHeight: ROW_LINE, isUnbreakable: false };
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
