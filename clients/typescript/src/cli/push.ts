/** `pds push`: creates or updates drafts from the files of a folder. */
import { realpath } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { createClient } from '../client.ts';
import { command } from './command.ts';
import { assertDifferentIds, readDocumentFiles } from './document-files.ts';
import { isFatal } from './exit-codes.ts';
import { isImportable, isLockFile, isUnsupported } from './import-files.ts';
import { PublishError } from './publish-draft.ts';
import { pushFile } from './push-file.ts';
import { findAmbiguous, findImports, findSubfolders, findUnsupported, pushImport } from './push-imports.ts';
import { createReport, type Report } from './sync-report.ts';

export const push = command({
  name: 'push',
  summary: 'Create or update drafts from the files of a folder',
  details: `Reads <name>.json files, see docs/cli.md. A file without an id creates a draft, and gets its id. A file with an id
updates that draft, unless somebody else has changed it since your last pull or push. Exit code 5 if that happened.
Word, Markdown and HTML files without a .json file of the same name are imported: each becomes a draft and gets one.
The pictures of a Markdown or HTML file are sent if they are in its folder. .doc, .odt and .rtf files are not supported.
Subfolders are not read: pass each as a PATH.`,
  arguments: [{ name: 'path', description: 'Folder or file', isRepeated: true, completes: 'files' }],
  options: {
    revise: { type: 'boolean', description: 'Create a revision draft if the document is published' },
    publish: { type: 'boolean', description: 'Publish the drafts that were created or updated' },
    force: { type: 'boolean', description: 'Overwrite changes that others have made' },
    'dry-run': { type: 'boolean', description: 'Only say what would happen' },
    'accept-changes': {
      type: 'boolean',
      description: 'Accept the tracked changes of imported Word files, instead of refusing the file',
    },
  },
  async run(context, { arguments: { path: paths }, options }) {
    // without the signal: if a request ended before the file has the new id, the next push would create it again
    const client = createClient(await context.credentials());
    const announceEnd = () => context.note('Ending after this file. Press Ctrl-C again to end at once.');
    context.signal.addEventListener('abort', announceEnd, { once: true });
    const resolved = paths.map((path) => resolve(context.cwd, path));
    const sources = resolved.filter(
      (path) => ![isImportable, isUnsupported, isLockFile].some((is) => is(path)),
    );
    const read = (await Promise.all(sources.map(readDocumentFiles))).flat();
    const files = await removeRepeated(read, ({ path }) => path);
    assertDifferentIds(files);
    const found = (await Promise.all(resolved.map(findImports))).flat();
    const imports = await removeRepeated(found, (path) => path);
    const importOptions = {
      isDryRun: options['dry-run'],
      isPublished: options.publish,
      acceptChanges: options['accept-changes'],
      ambiguous: findAmbiguous(imports),
    };
    const report = createReport(context);
    const total = files.length + imports.length;
    const processFile = (name: string, id: string | undefined, work: () => Promise<void>) =>
      reportErrors(report, name, id, async () => {
        context.signal.throwIfAborted();
        await work();
      });
    for (const [at, file] of files.entries()) {
      context.progress(`${at + 1} of ${total}: ${file.content.title}`);
      const name = relative(context.cwd, file.path);
      await processFile(name, file.id, async () => {
        const { outcome, message, id = file.id } = await pushFile(client, file, options);
        report.add({ file: name, id, outcome, ...(message && { message }) });
      });
    }
    for (const [at, path] of imports.entries()) {
      const name = relative(context.cwd, path);
      context.progress(`${files.length + at + 1} of ${total}: ${name}`);
      await processFile(name, undefined, async () => {
        const { id, message } = await pushImport(client, path, importOptions);
        report.add({ file: name, id, outcome: 'created', message });
      });
    }
    const subfolders = (await Promise.all(sources.map(findSubfolders))).flat();
    const left = subfolders.filter((path) => !resolved.includes(path));
    const list = (found: string[]) => found.map((path) => relative(context.cwd, path)).join(', ');
    if (left.length > 0) context.note(`Subfolders are not read: ${list(left)}`);
    const unsupported = (await Promise.all(sources.map(findUnsupported))).flat();
    if (unsupported.length > 0)
      context.note(`Not supported: ${list(unsupported)}\nSave them as .docx, and push again.`);
    return report.finish();
  },
});

/** Removes the files that several paths have led to: a new document would be created for each. */
async function removeRepeated<File>(
  files: readonly File[],
  getPath: (file: File) => string,
): Promise<File[]> {
  const toEntry = async (file: File) => {
    const path = getPath(file);
    return [await realpath(path).catch(() => path), file] as const;
  };
  return [...new Map(await Promise.all(files.map(toEntry))).values()];
}

/** Adds an error of one file to the report. Rejects with an error that every other file would have too. */
async function reportErrors(
  report: Report,
  name: string,
  id: string | undefined,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isSaved = error instanceof PublishError;
    const cause = isSaved ? error.cause : error;
    if (isSaved || !isFatal(cause)) report.addError(name, isSaved ? error.id : id, error);
    if (isFatal(cause)) {
      report.abort();
      throw cause;
    }
  }
}
