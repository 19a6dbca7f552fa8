/** Follows the elements of SVG and MathML in HTML. In them, other rules of the parser hold than outside. */

/** Elements that put the parser into a state that is not followed here. */
const doubtful = new Set(['select', 'template', 'frameset', 'col']);
/** Elements of SVG and MathML that contain HTML. */
const htmlInside = new Set([
  ...['foreignobject', 'desc', 'title', 'annotation-xml', 'mi', 'mo', 'mn', 'ms', 'mtext'],
]);
/** Elements of HTML that end SVG and MathML where they begin. */
const breakouts = new Set([
  ...['b', 'big', 'blockquote', 'body', 'br', 'center', 'code', 'dd', 'div', 'dl', 'dt', 'em', 'embed'],
  ...['font', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'head', 'hr', 'i', 'img', 'li', 'listing', 'menu', 'meta'],
  ...['nobr', 'ol', 'p', 'pre', 'ruby', 's', 'small', 'span', 'strong', 'strike', 'sub', 'sup', 'table'],
  ...['tt', 'u', 'ul', 'var'],
]);

/** A tag as it is written. Its name is in lower case. */
export interface WrittenTag {
  name: string;
  isEnd: boolean;
  /** Whether it ends with `/>`, which has a meaning only in SVG and MathML. */
  isSelfClosing: boolean;
}

/** Whether the parser is in SVG or MathML, from the tags so far. */
export class ForeignContent {
  /** False as soon as that cannot be told. It stays false, and `isInside` too. */
  isCertain = true;
  private readonly open: string[] = [];

  get isInside(): boolean {
    return this.open.length > 0;
  }

  /** Takes the next tag. Returns true if it is a complete element. */
  read({ name, isEnd, isSelfClosing }: WrittenTag): boolean {
    if (doubtful.has(name)) this.giveUp();
    if (isEnd) {
      this.end(name);
      return false;
    }
    const isHtml = htmlInside.has(this.open.at(-1) ?? '') || breakouts.has(name);
    if (this.isInside && isHtml) this.giveUp();
    const isRoot = this.isCertain && (name === 'svg' || name === 'math');
    if (!this.isInside && !isRoot) return false;
    if (!isSelfClosing) this.open.push(name);
    return isSelfClosing;
  }

  private end(name: string): void {
    if (!this.isInside) return;
    const at = this.open.lastIndexOf(name);
    if (at < 0) this.giveUp();
    else this.open.length = at;
  }

  private giveUp(): void {
    this.isCertain = false;
    this.open.length = 0;
  }
}
