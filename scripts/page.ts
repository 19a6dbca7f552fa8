/** Pages of Markdown that are made from something else. */

/** A page with its heading and the note that says what it is made from. */
export function page(title: string, parts: readonly string[], source = 'the contracts'): string {
  const note = `Generated from ${source} by \`npm run generate\`; do not edit.`;
  return `# ${title}\n\n${[note, ...parts].join('\n\n')}\n`;
}

/** A table; what a cell holds cannot break it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
