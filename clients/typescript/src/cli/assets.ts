/** The commands on pictures. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Asset } from '../generated/contract.ts';
import { command } from './command.ts';
import { UsageError } from './exit-codes.ts';
import { saveDownload } from './files.ts';

const upload = command({
  name: 'assets upload',
  summary: 'Upload pictures',
  details: `Prints the \`src\` of an image node for each picture, in the order of the files. The service removes metadata. A picture
that no document names is deleted after 24 hours.`,
  arguments: [
    { name: 'file', description: 'PNG, JPEG or GIF of at most 10 MiB', isRepeated: true, completes: 'files' },
  ],
  async run(context, { arguments: { file: files } }) {
    const client = await context.client();
    const assets: Asset[] = [];
    try {
      for (const [at, name] of files.entries()) {
        context.progress(`${at + 1} of ${files.length}: ${name}`);
        const file = new Uint8Array(await readFile(resolve(context.cwd, name)));
        assets.push(await client.createAsset({ body: { file } }));
      }
    } finally {
      // also those before a failure
      if (assets.length > 0) context.show(assets, () => assets.map(({ src }) => src).join('\n'));
    }
    return undefined;
  },
});

const download = command({
  name: 'assets download',
  summary: 'Download a picture',
  details: `Without --output, writes a file that has the first digits of the id as its name into the current folder, unless it
exists. With --output -, writes to stdout.`,
  arguments: [{ name: 'id', description: 'Id of the picture, or `asset:` and the id' }],
  options: {
    output: {
      type: 'string',
      value: 'FILE',
      completes: 'files',
      description: 'The file to write, or - for stdout',
    },
  },
  async run(context, { arguments: { id }, options: { output } }) {
    if (context.isJson && output === '-') throw new UsageError('--json and --output - both write to stdout.');
    const client = await context.client();
    const file = await client.getAsset({ asset_id: id.replace(/^asset:/, '') });
    const path = await saveDownload(context, file, output);
    if (path !== undefined) context.show({ file: path }, () => path);
    return undefined;
  },
});

/** The commands on pictures. */
export const assetCommands = [upload, download];
