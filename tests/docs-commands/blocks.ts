/** The command blocks of the documentation: every ```sh fence of a page, with the reason why it is skipped, if it is. */

/** A command block. */
export interface Block {
  page: string;
  /** Of its fence, from 1. */
  line: number;
  /** Its commands, without the fence. */
  text: string;
  /** Why it is not run. */
  skip?: string;
}

const fence = /^(\s*)```(\w*)\s*$/;
const skipComment = /^\s*<!-- skip(?<whole> page)?:?(?<reason>.*?)-->\s*$/;
const shells = new Set(['sh', 'bash', 'shell', 'console']);

/**
 * The command blocks of a page. `<!-- skip: reason -->` on the line before a fence skips the block,
 * `<!-- skip page: reason -->` skips all blocks of the page. Throws when a skip has no reason or skips nothing.
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

/** The block whose fence is at a line; takes the reason before it. */
function toBlock(page: string, at: number, reasons: Map<number, string>): Block {
  const skip = reasons.get(at - 1);
  reasons.delete(at - 1);
  return { page, line: at + 1, text: '', ...(skip !== undefined && { skip }) };
}
