/** Writes lines of CSV (RFC 4180) that spreadsheets open without running any cell as a formula. */

/** Writes one line. Null is an empty cell. */
export function toCsvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map((cell) => toCell(String(cell ?? ''))).join(',')}\r\n`;
}

/** Spreadsheets run a cell that begins like a formula; with an apostrophe they show it as text. */
function toCell(text: string): string {
  const guarded = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
