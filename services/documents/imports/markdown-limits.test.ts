/** Tests which Markdown is rejected because the parser takes too long for it. */
import { expect, test } from '@jest/globals';
import { checkMarkdown } from './markdown-limits.ts';

const brackets = '['.repeat(10_001);
const table = (rows: string) => `| a | b |\n| - | - |\n${rows}`;

test.each([
  ['a table with many rows', table('| **x** | `y` |\n'.repeat(1_700))],
  ['a long block of code', `\`\`\`js\n${'const a = b[1] * c[2] & !d;\n'.repeat(1_600)}\`\`\`\n`],
  ['a long block of code in a list', `- \`\`\`\n${'  a[1] * b[2]\n'.repeat(3_000)}  \`\`\`\n`],
  ['many list items', '- **x**\n'.repeat(3_000)],
])('Markdown with marks in different blocks is accepted: %s', (_name, markdown) => {
  expect(() => checkMarkdown(markdown)).not.toThrow();
});

test.each([
  ['a paragraph', brackets],
  ['a paragraph of many lines', '*a_\n'.repeat(5_001)],
  ['a heading', `# ${brackets}`],
  ['a quote', `> ${brackets}`],
  ['a note', `a[^1]\n\n[^1]: ${brackets}`],
  ['a cell of a table', table(`| ${brackets} | b |`)],
  ['a very long table', table('| **x** | `y` |\n'.repeat(8_400))],
  ['a paragraph after a block of code', `~~~\n\`\`\`\n~~~\n${brackets}`],
  ['a paragraph after a fence in a list', `- a\n  \`\`\`\n${brackets}`],
  ['a paragraph after a fence in HTML', `<!--\n\n\`\`\`\n\n-->\n\n${brackets}`],
  ['a paragraph after indented code', `a\n    \`\`\`\n${brackets}`],
])('Markdown with too many marks is rejected: %s', (_name, markdown) => {
  expect(() => checkMarkdown(markdown)).toThrow('too many marks');
});
