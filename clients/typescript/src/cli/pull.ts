/** `pds pull`: writes documents to a folder. */
import { mkdir, readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Client } from '../client.ts';
import type { DocumentSummary } from '../generated/contract.ts';
import { command } from './command.ts';
import type { Context } from './context.ts';
import { filters, selectDocuments } from './docs.ts';
import {
  type Bases,
  type DocumentFile,
  readBases,
  readDocumentFiles,
  toBaseName,
  toChecksum,
  toContent,
  toNewPath,
  writeBases,
  writeDocumentFile,
} from './document-files.ts';
import { CommandError, isFatal } from './exit-codes.ts';
import { toDocumentPath } from './import-files.ts';
import { readCopyState, writeCopy } from './markdown-copy.ts';
import { createReport, type FileResult, type Report } from './sync-report.ts';

/** How many documents are read at the same time. */
const concurrency = 4;

/** The ETag of no document. */
const noEtag = '"none"';

const ownFileMessage =
  'You have changed this file, or pull has not written it, so it stays. Remove it and pull again to get a copy.';

const editedMessage = 'Your changes stay. Push them, or pull with --force.';

interface Folder {
  path: string;
  files: Map<string, DocumentFile>;
  names: Set<string>;
  bases: Bases;
  /** Writes the bases, one after the other, because documents are pulled at the same time. */
  save(): Promise<void>;
}

export const pull = command({
  name: 'pull',
  summary: 'Write documents to a folder, as JSON files with their trees and as Markdown',
  details: `Each document becomes <title>.json, which \`pds push\` reads, and <title>.md, which is only for reading.
A document keeps its file when its title changes. Files that you have changed stay as they are: push them, or use
--force. Markdown files that you have changed or written stay even with --force: remove one and pull again to get a copy.
Files of documents that are no longer listed stay too.`,
  arguments: [{ name: 'folder', description: 'The folder; created if it is missing', completes: 'files' }],
  options: {
    ...filters,
    force: { type: 'boolean', description: 'Overwrite JSON files that you have changed' },
  },
  async run(context, { arguments: { folder: name }, options }) {
    const client = await context.client();
    const folder = await openFolder(resolve(context.cwd, name));
    const report = createReport(context);
    try {
      await forEach(selectDocuments(client, options), concurrency, async (document) => {
        context.progress(document.title);
        await pullDocument(context, client, folder, document, options.force, report);
      });
    } catch (error) {
      report.abort();
      throw error;
    }
    return report.finish();
  },
});

async function openFolder(path: string): Promise<Folder> {
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EEXIST' ? 'a file has this name' : error.message;
    throw new CommandError(`Cannot create the folder ${path}: ${reason}.`);
  });
  const files = await readDocumentFiles(path);
  const bases = await readBases(path);
  let saved = Promise.resolve();
  return {
    path,
    files: new Map(files.flatMap((file) => (file.id === undefined ? [] : [[file.id, file]]))),
    // also those of files to import, which a new document would hide from a push
    names: new Set((await readdir(path)).map((name) => toBaseName(toDocumentPath(name)).toLowerCase())),
    bases,
    save() {
      saved = saved.then(() => writeBases(path, bases));
      return saved;
    },
  };
}

async function pullDocument(
  context: Context,
  client: Client,
  folder: Folder,
  document: DocumentSummary,
  isForced: boolean,
  report: Report,
): Promise<void> {
  const { id } = document;
  const present = folder.files.get(id);
  const path = present?.path ?? toNewPath(folder.path, document, folder.names);
  const add = (file: string, outcome: FileResult['outcome'], message?: string): void =>
    report.add({ file: relative(context.cwd, file), id, outcome, ...(message && { message }) });
  try {
    const base = folder.bases.get(id);
    const copy = { path: join(folder.path, `${toBaseName(path)}.md`), checksum: base?.markdown };
    const state = await readCopyState(copy.path, copy.checksum);
    const isEdited = present !== undefined && toChecksum(present.content) !== base?.checksum;
    // earlier versions of this program wrote files without the ids of the nodes
    const lacksIds = present?.content.nodes.some(({ lineage_id }) => lineage_id === undefined) ?? false;
    const isCopyDue = state === 'missing' || (state === 'written' && base?.markdown_outdated === true);
    const isReplaced = isEdited ? isForced : lacksIds || isCopyDue;
    const known = present && base && !isReplaced ? base.etag : noEtag;
    const response = await client.withResponse.getDocument({ doc_id: id }, { ifNoneMatch: known });
    if (!response.isModified) return isEdited ? add(path, 'edited', editedMessage) : add(path, 'unchanged');
    const content = toContent(response.data);
    const checksum = toChecksum(content);
    const isEqual = present !== undefined && toChecksum(present.content) === checksum;
    if (present && isEdited && !isEqual && !isForced)
      // publishing or a review changes the ETag, but not the content
      return checksum === base?.checksum
        ? add(path, 'edited', editedMessage)
        : add(path, 'conflict', 'The file and the document have changed. Merge them, or pull with --force.');
    if (!isEqual) await writeDocumentFile({ path, id, content });
    const isPending = base?.publish_pending === true && base.checksum === checksum;
    const mark = isPending && response.data.status === 'draft' ? { publish_pending: true as const } : {};
    // at once, because without its checksum no later pull would replace the copy
    const remember = async (etag: string): Promise<void> => {
      const { checksum: markdown } = copy;
      folder.bases.set(id, { etag, checksum, ...(markdown && { markdown }), ...mark });
      await folder.save();
    };
    // if the export fails, the file is still known, and the next pull exports again
    await remember(noEtag);
    if (state !== 'own') {
      const markdown = await client.exportMarkdown({ doc_id: id, flavor: 'gfm' });
      copy.checksum = await writeCopy(copy.path, await markdown.bytes());
    }
    await remember(response.etag ?? noEtag);
    add(path, isEqual && !isCopyDue ? 'unchanged' : 'pulled');
    if (state === 'own') add(copy.path, 'kept', ownFileMessage);
  } catch (error) {
    if (isFatal(error)) throw error;
    report.addError(relative(context.cwd, path), id, error);
  }
}

/** Calls `act` for each item, for at most `limit` items at the same time. Rejects with the first error. */
async function forEach<Item>(
  items: AsyncIterable<Item>,
  limit: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  for await (const item of items) {
    const one = act(item)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= limit) await Promise.race(running);
    if (failure) break;
  }
  await Promise.all(running);
  if (failure) throw failure.error;
}
