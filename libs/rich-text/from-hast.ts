/** Converts HTML trees (hast) to rich text: an allow-list of elements. Other elements give their text. */
import type { Element, RootContent } from 'hast';
import { findCalloutKind, toAlert, toCode, toLabelledCallout } from './hast-blocks.ts';
import { type HastNode, hasClass, isHastElement, isListElement } from './hast-elements.ts';
import { InlineLine } from './hast-inline.ts';
import { findTaskMark, groupItems, withFirstParagraph } from './hast-lists.ts';
import { readTableRows } from './hast-table.ts';
import { safeHref } from './link.ts';
import type { Mark, RichText } from './tree.ts';

/** What is left out, because rich text cannot contain it. */
export const hastDrops = ['script', 'form_control', 'embedded_content', 'unsafe_link'] as const;
export type HastDrop = (typeof hastDrops)[number];

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

const drops: Record<string, HastDrop | 'silent'> = {
  ...{ script: 'script', noscript: 'silent', style: 'silent', template: 'silent', head: 'silent' },
  ...{ input: 'form_control', button: 'form_control', select: 'form_control', textarea: 'form_control' },
  ...{ iframe: 'embedded_content', object: 'embedded_content', embed: 'embedded_content' },
  ...{ video: 'embedded_content', audio: 'embedded_content', canvas: 'embedded_content' },
  ...{ svg: 'embedded_content', frameset: 'embedded_content', annotation: 'silent' },
};

const marks: Record<string, string> = {
  ...{ strong: 'bold', b: 'bold', dt: 'bold', caption: 'bold' },
  ...{ em: 'italic', i: 'italic', cite: 'italic', dfn: 'italic', var: 'italic' },
  ...{ s: 'strike', strike: 'strike', del: 'strike', u: 'underline', ins: 'underline' },
  ...{ sub: 'subscript', sup: 'superscript', mark: 'highlight' },
  ...{ code: 'code', kbd: 'code', samp: 'code', tt: 'code' },
};

const inlineElements = new Set([
  ...['a', 'abbr', 'b', 'bdi', 'bdo', 'big', 'cite', 'code', 'data', 'del', 'dfn', 'em', 'font', 'i', 'ins'],
  ...['kbd', 'label', 'mark', 'math', 'nobr', 'output', 'q', 'ruby', 's', 'samp', 'small', 'span', 'strike'],
  ...['strong', 'sub', 'sup', 'time', 'tt', 'u', 'var', 'wbr', 'rb', 'rt', 'rp'],
]);

/** Converts the content of one node to blocks, the content of a `doc`. Only http, https and mailto links stay. */
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
    else if (inlineElements.has(name)) {
      if (name === 'a' && hasUnsafeTarget(element)) this.options.onDrop('unsafe_link');
      this.visitAll(element.children, addMark(element, inherited));
    } else this.addBlock(element, inherited);
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
    const callout = toAlert(content) ?? (this.depth > 1 ? toLabelledCallout(content) : undefined);
    return [callout ?? { type: 'blockquote', content }];
  }

  private toLists(element: Element, inherited: readonly Mark[]): RichText[] {
    const isOrdered = element.tagName === 'ol';
    const start = Number(element.properties.start ?? 1);
    const type = String(element.properties.type ?? '1');
    const numerals = /^[aAiI]$/.test(type) ? { type } : {};
    let at = Number.isInteger(start) && start >= 0 && start <= 32_767 ? start : 1;
    const lists: RichText[] = [];
    for (const { isTask, items } of groupItems(element.children)) {
      const content = items.map((nodes) => this.toItem(nodes, isTask, inherited));
      if (isTask) lists.push({ type: 'taskList', content });
      else if (!isOrdered) lists.push({ type: 'bulletList', content });
      else {
        const attrs = { ...(at !== 1 && { start: at }), ...numerals };
        lists.push({ type: 'orderedList', ...(Object.keys(attrs).length > 0 && { attrs }), content });
      }
      at = Math.min(32_767, at + items.length);
    }
    return lists;
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
      content: cells.map(({ type, attrs, children }) => {
        const blocks = this.readNested(children, 3, inherited);
        return {
          type,
          ...(attrs && { attrs }),
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
