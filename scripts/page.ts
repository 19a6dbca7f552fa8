/** Renders generated Markdown pages. */

/** Renders a page with a heading and a note about its source. */
export function renderPage(title: string, parts: readonly string[], source = 'the contracts'): string {
  const note = `Generated from ${source} by \`npm run generate\`; do not edit.`;
  return `# ${title}\n\n${[note, ...parts].join('\n\n')}\n`;
}

/** Renders a table. Escapes pipes and line breaks in cells. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
