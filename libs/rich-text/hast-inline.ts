/** Collects the inline content of one paragraph and collapses its white space as a browser does. */
import type { Mark, RichText } from './tree.ts';

/** The white space that HTML collapses; a no-break space stays. */
const spaces = /[ \t\n\r\f]+/g;

/** The texts, breaks and images of a line of HTML. */
export class InlineLine {
  private readonly leaves: RichText[] = [];
  private endsWithSpace = true;

  addText(value: string, marks: readonly Mark[]): void {
    let text = value.replace(spaces, ' ');
    if (this.endsWithSpace && text.startsWith(' ')) text = text.slice(1);
    if (text === '') return;
    this.endsWithSpace = text.endsWith(' ');
    const last = this.leaves.at(-1);
    if (last?.text !== undefined && hasMarks(last, marks)) last.text += text;
    else this.leaves.push({ type: 'text', text, ...(marks.length > 0 && { marks: [...marks] }) });
  }

  addBreak(): void {
    this.trimEnd();
    this.leaves.push({ type: 'hardBreak' });
    this.endsWithSpace = true;
  }

  addNode(node: RichText): void {
    this.leaves.push(node);
    this.endsWithSpace = false;
  }

  /** Returns a paragraph, images without text as blocks, or nothing. */
  toBlocks(): RichText[] {
    this.trimEnd();
    while (this.leaves.at(-1)?.type === 'hardBreak') {
      this.leaves.pop();
      this.trimEnd();
    }
    while (this.leaves[0]?.type === 'hardBreak') this.leaves.shift();
    if (this.leaves.length === 0) return [];
    const isPicture = ({ type, text }: RichText) => type === 'image' || type === 'hardBreak' || text === ' ';
    if (this.leaves.every(isPicture)) return this.leaves.filter(({ type }) => type === 'image');
    return [{ type: 'paragraph', content: this.leaves }];
  }

  private trimEnd(): void {
    const last = this.leaves.at(-1);
    if (last?.text === undefined || !last.text.endsWith(' ')) return;
    last.text = last.text.slice(0, -1);
    if (last.text === '') this.leaves.pop();
  }
}

function hasMarks({ marks = [] }: RichText, wanted: readonly Mark[]): boolean {
  if (marks.length !== wanted.length) return false;
  return wanted.every((mark, at) => mark === marks[at] || isSame(mark, marks[at]));
}

function isSame(mark: Mark, other: Mark | undefined): boolean {
  return mark.type === other?.type && mark.attrs?.href === other.attrs?.href;
}
