/** Converts HTML trees (hast) to rich text: an allow-list of elements. Other elements give their text. */
import type { Element, RootContent } from 'hast';
import { findCalloutKind, toAlert, toCode, toLabelledCallout } from './hast-blocks.ts';
import { blockElements, drops, type HastDrop, marks } from './hast-element-kinds.ts';
import { type HastNode, hasClass, isHastElement, isListElement } from './hast-elements.ts';
import { InlineLine } from './hast-inline.ts';
import { findTaskMark, groupItems, withFirstParagraph } from './hast-lists.ts';
import { toMathChildren } from './hast-math.ts';
import { readTableRows } from './hast-table.ts';
import { safeHref } from './link.ts';
import type { Mark, RichText } from './tree.ts';

/** What the conversion asks and tells its caller. */
export interface HastOptions {
  /** Returns the image node of an `img` element, or the text in its place. */
  toImage(image: Element): RichText | string;
  /** Is called for everything that is left out. */
  onDrop(what: HastDrop): void;
  /** Is called for each list, table or quote that is nested too deep and becomes plain paragraphs. */
  onFlatten(): void;
}

/** The deepest block that may contain others, so that rich text has at most 32 levels. */
const deepestContainer = 26;

/**
 * Converts the content of one node to blocks, the content of a `doc`. Only http, https and mailto links stay. A quote
 * whose property `dataAlert` is false is no alert of GitHub, whatever its text.
 */
export function fromHast(nodes: readonly RootContent[], options: HastOptions): RichText[] {
  return new BlockReader(options, 1).read(nodes);
}

/** Reads blocks at one depth. Inline content between them becomes paragraphs. */
class BlockReader {
  private readonly options: HastOptions;
  private readonly depth: number;
  private readonly blocks: RichText[] = [];
  private line = new InlineLine();

  constructor(options: HastOptions, depth: number) {
    this.options = options;
    this.depth = depth;
  }

  read(nodes: readonly HastNode[], inherited: readonly Mark[] = []): RichText[] {
    this.visitAll(nodes, inherited);
    this.endLine();
    return this.blocks;
  }

  private visitAll(nodes: readonly HastNode[], inherited: readonly Mark[]): void {
    for (const node of nodes) {
      if (node.type === 'text') this.line.addText(node.value, inherited);
      else if (isHastElement(node)) this.visit(node, inherited);
    }
  }

  private visit(element: Element, inherited: readonly Mark[]): void {
    const name = element.tagName;
    const drop = Object.hasOwn(drops, name) ? drops[name] : undefined;
    if (drop || element.properties.hidden) {
      if (drop && drop !== 'silent') this.options.onDrop(drop);
      return;
    }
    if (name === 'br') this.line.addBreak();
    else if (name === 'img') this.addImage(element, inherited);
    else if (blockElements.has(name)) this.addBlock(element, inherited);
    else {
      if (name === 'a' && hasUnsafeTarget(element)) this.options.onDrop('unsafe_link');
      this.visitAll(toMathChildren(element) ?? element.children, addMark(element, inherited));
    }
  }

  private addImage(element: Element, inherited: readonly Mark[]): void {
    const image = this.options.toImage(element);
    if (typeof image === 'string') this.line.addText(image, inherited);
    else this.line.addNode(addLink(image, inherited));
  }

  private addBlock(element: Element, inherited: readonly Mark[]): void {
    this.endLine();
    const block = this.toBlock(element, inherited);
    if (block) this.blocks.push(...block);
    else this.visitAll(element.children, addMark(element, inherited));
    this.endLine();
  }

  /** Returns undefined for an element that only groups others. */
  private toBlock(element: Element, inherited: readonly Mark[]): RichText[] | undefined {
    const name = element.tagName;
    if (name === 'hr') return [{ type: 'horizontalRule' }];
    if (name === 'pre') return toCode(element);
    const level = /^h([1-6])$/.exec(name)?.[1];
    if (level) return this.toHeading(element, Number(level), inherited);
    if (!isContainer(element)) return undefined;
    if (this.depth > deepestContainer) {
      this.options.onFlatten();
      return undefined;
    }
    if (isListElement(element)) return this.toLists(element, inherited);
    if (name === 'table') return this.toTable(element, inherited);
    return this.toQuote(element, inherited);
  }

  private toHeading(element: Element, level: number, inherited: readonly Mark[]): RichText[] {
    const blocks = this.readNested(element.children, 0, inherited);
    return blocks.map((block) =>
      block.type === 'paragraph' ? { ...block, type: 'heading', attrs: { level } } : block,
    );
  }

  private toQuote(element: Element, inherited: readonly Mark[]): RichText[] {
    const kind = element.tagName === 'aside' ? findCalloutKind(element) : undefined;
    const isLabel = (node: HastNode) => isHastElement(node) && hasClass(node, 'callout-label');
    const content = this.readNested(
      element.children.filter((child) => !isLabel(child)),
      1,
      inherited,
    );
    if (content.length === 0) return [];
    if (kind) return [{ type: 'callout', attrs: { kind }, content }];
    const alert = element.properties.dataAlert === false ? undefined : toAlert(content);
    const callout = alert ?? (this.depth > 1 ? toLabelledCallout(content) : undefined);
    return [callout ?? { type: 'blockquote', content }];
  }

  private toLists(element: Element, inherited: readonly Mark[]): RichText[] {
    const isOrdered = element.tagName === 'ol';
    const type = String(element.properties.type ?? '1');
    const numerals = /^[aAiI]$/.test(type) ? { type } : {};
    return groupItems(element).map(({ isTask, start, items }) => {
      const content = items.map((nodes) => this.toItem(nodes, isTask, inherited));
      if (isTask) return { type: 'taskList', content };
      if (!isOrdered) return { type: 'bulletList', content };
      const attrs = { ...(start !== 1 && { start }), ...numerals };
      return { type: 'orderedList', ...(Object.keys(attrs).length > 0 && { attrs }), content };
    });
  }

  private toItem(nodes: readonly HastNode[], isTask: boolean, inherited: readonly Mark[]): RichText {
    const mark = isTask ? findTaskMark(nodes) : undefined;
    const content = withFirstParagraph(this.readNested(mark?.rest ?? nodes, 2, inherited));
    if (!isTask) return { type: 'listItem', content };
    return { type: 'taskItem', attrs: { checked: mark?.checked ?? false }, content };
  }

  private toTable(element: Element, inherited: readonly Mark[]): RichText[] {
    const { captions, rows } = readTableRows(element);
    const content = rows.map((cells) => ({
      type: 'tableRow',
      content: cells.map(({ type, colspan, rowspan, children }) => {
        const attrs = { ...(colspan > 1 && { colspan }), ...(rowspan > 1 && { rowspan }) };
        const blocks = this.readNested(children, 3, inherited);
        return {
          type,
          ...(Object.keys(attrs).length > 0 && { attrs }),
          content: blocks.length > 0 ? blocks : [{ type: 'paragraph' }],
        };
      }),
    }));
    const caption = captions.flatMap((each) => this.readNested(each.children, 0, addMark(each, inherited)));
    return content.length === 0 ? caption : [...caption, { type: 'table', content }];
  }

  private readNested(nodes: readonly HastNode[], levels: number, inherited: readonly Mark[]): RichText[] {
    return new BlockReader(this.options, this.depth + levels).read(nodes, inherited);
  }

  private endLine(): void {
    this.blocks.push(...this.line.toBlocks());
    this.line = new InlineLine();
  }
}

function isContainer(element: Element): boolean {
  if (element.tagName === 'aside') return findCalloutKind(element) !== undefined;
  return isListElement(element) || element.tagName === 'table' || element.tagName === 'blockquote';
}

/** A link to a place in the same file is no loss. */
function hasUnsafeTarget({ properties: { href } }: Element): boolean {
  return typeof href === 'string' && !href.startsWith('#') && safeHref(href) === undefined;
}

/** A picture can be a link. Other marks do not change it. */
function addLink(image: RichText, inherited: readonly Mark[]): RichText {
  const link = inherited.find(({ type }) => type === 'link');
  return link ? { ...image, marks: [link] } : image;
}

function addMark(element: Element, inherited: readonly Mark[]): readonly Mark[] {
  const href = element.tagName === 'a' ? safeHref(element.properties.href) : undefined;
  const type = Object.hasOwn(marks, element.tagName) ? marks[element.tagName] : undefined;
  const mark = href ? { type: 'link', attrs: { href } } : type && { type };
  if (!mark || inherited.some((each) => each.type === mark.type)) return inherited;
  return [...inherited, mark];
}
