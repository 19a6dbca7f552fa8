/** `pds library export`: downloads all documents as one archive. */
import { command } from './command.ts';
import { UsageError } from './exit-codes.ts';
import { saveDownload } from './files.ts';

export const library = command({
  name: 'library export',
  summary: 'Export all documents as a zip archive (admins)',
  details: `Without --output, writes a file with the name of the organization and the day into the current folder, unless
it exists. With --output -, writes to stdout. An incomplete download leaves no file.`,
  options: {
    status: {
      type: 'string',
      choices: ['draft', 'published', 'archived'],
      isRepeated: true,
      description: 'Only documents with this status. Default: all',
    },
    department: { type: 'string', value: 'NAME', description: 'Only documents of this department' },
    since: { type: 'string', value: 'TIME', description: 'Only documents updated at or after this time' },
    output: {
      type: 'string',
      value: 'FILE',
      completes: 'files',
      description: 'The file to write, or - for stdout',
    },
  },
  async run(context, { options: { status, department, since, output } }) {
    if (context.isJson && output === '-') throw new UsageError('--json and --output - both write to stdout.');
    const client = await context.client();
    context.progress('Exporting …');
    const archive = await client.exportLibrary({
      ...(status.length > 0 && { status }),
      department,
      updated_since: since,
    });
    const path = await saveDownload(context, archive, output);
    if (path !== undefined) context.show({ file: path }, () => path);
    return undefined;
  },
});
