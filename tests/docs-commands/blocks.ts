/** Finds the command blocks of a page: every ```sh fence, and the reason if it is skipped. */

/** A command block. */
export interface Block {
  page: string;
  /** Line of its fence, counted from 1. */
  line: number;
  /** The commands without the fence. */
  text: string;
  /** Reason why it is not run. */
  skip?: string;
}

const fence = /^(\s*)```(\w*)\s*$/;
const skipComment = /^\s*<!-- skip(?<whole> page)?:?(?<reason>.*?)-->\s*$/;
const shells = new Set(['sh', 'bash', 'shell', 'console']);

/**
 * Finds the command blocks of a page. `<!-- skip: reason -->` on the line before a fence skips the block,
 * `<!-- skip page: reason -->` skips all blocks of the page. Throws if a skip has no reason or no block.
 */
export function findCommandBlocks(page: string, markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  const reasons = new Map<number, string>();
  let wholePage: string | undefined;
  let open: { indent: string; block: Block | undefined } | undefined;
  for (const [at, line] of lines.entries()) {
    const [, indent = '', language = ''] = fence.exec(line) ?? [];
    if (open) {
      if (line.trim() === '```') open = undefined;
      else if (open.block) open.block.text += `${line.slice(open.indent.length)}\n`;
    } else if (fence.test(line)) {
      const block = shells.has(language) ? toBlock(page, at, reasons) : undefined;
      if (block) blocks.push(block);
      open = { indent, block };
    } else {
      const { whole, reason } = skipComment.exec(line)?.groups ?? {};
      if (reason === undefined) continue;
      if (reason.trim() === '') throw new Error(`${page}:${at + 1}: a skip needs a reason`);
      if (whole) wholePage = reason.trim();
      else reasons.set(at, reason.trim());
    }
  }
  const [unused] = reasons.keys();
  if (unused !== undefined) throw new Error(`${page}:${unused + 1}: this skip is not before a command block`);
  if (wholePage !== undefined && blocks.length === 0) throw new Error(`${page}: there is nothing to skip`);
  return blocks.map((block) => (wholePage === undefined ? block : { skip: wholePage, ...block }));
}

/** Creates the block of the fence at a line, and removes the reason before it from `reasons`. */
function toBlock(page: string, at: number, reasons: Map<number, string>): Block {
  const skip = reasons.get(at - 1);
  reasons.delete(at - 1);
  return { page, line: at + 1, text: '', ...(skip !== undefined && { skip }) };
}
