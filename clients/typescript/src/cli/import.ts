/** `pds import`: creates drafts from a Word, Markdown or HTML file, or shows what would be created. */
import { resolve } from 'node:path';
import type { ImportedDocument, NodeInput } from '../generated/contract.ts';
import { command } from './command.ts';
import { formatImportReport, importFile, previewFile } from './import-files.ts';

export const importCommand = command({
  name: 'import',
  summary: 'Create drafts from a Word, Markdown or HTML file, or a library',
  details: `The file is a .docx, a .md or .html, whose pictures are sent if they are in its folder, a .zip with one .md or
.html and its pictures, or a library that "pds library export" has written. Headings become sections, steps and
sub-steps. Prints the id of each draft, and what was left out or changed. With --preview, nothing is created.`,
  arguments: [{ name: 'file', description: 'The file', completes: 'files' }],
  options: {
    preview: { type: 'boolean', description: 'Show the sections, steps and sub-steps, and create nothing' },
    'accept-changes': {
      type: 'boolean',
      description: 'Accept all tracked changes of a Word file, instead of refusing it',
    },
  },
  async run(context, { arguments: { file: name }, options }) {
    const client = await context.client();
    const path = resolve(context.cwd, name);
    const acceptChanges = options['accept-changes'];
    context.progress(name);
    if (options.preview) {
      const preview = await previewFile(client, path, { acceptChanges });
      context.show(preview, () =>
        [...preview.documents.flatMap(formatOutline), ...formatImportReport(preview.report)].join('\n'),
      );
      return undefined;
    }
    const result = await importFile(client, path, { acceptChanges });
    const ids = result.documents.map(({ id, title }) => `${id}  ${title}`);
    context.show(result, () => [...ids, ...formatImportReport(result.report)].join('\n'));
    return undefined;
  },
});

function formatOutline({ title, version, nodes }: ImportedDocument): string[] {
  return [version === null ? title : `${title} (${version})`, ...formatNodes(nodes, '  ')];
}

function formatNodes(nodes: readonly NodeInput[], indent: string): string[] {
  return nodes.flatMap(({ title, children = [] }) => [
    `${indent}${title}`,
    ...formatNodes(children, `${indent}  `),
  ]);
}
