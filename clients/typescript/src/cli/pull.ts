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
import { isFatal } from './exit-codes.ts';
import { replaceFile } from './files.ts';
import { createReport, type FileResult, type Report } from './sync-report.ts';

/** How many documents are read at the same time. */
const concurrency = 4;

/** The ETag of no document. */
const noEtag = '"none"';

interface Folder {
  path: string;
  files: Map<string, DocumentFile>;
  names: Set<string>;
  bases: Bases;
}

export const pull = command({
  name: 'pull',
  summary: 'Write documents to a folder, as JSON files with their trees and as Markdown',
  details: `Each document becomes <title>.json, which \`pds push\` reads, and <title>.md, which is only for reading.
A document keeps its file when its title changes. Files that you have changed stay as they are: push them, or use
--force. Files of documents that are no longer listed stay too.`,
  arguments: [{ name: 'folder', description: 'The folder; created if it is missing', completes: 'files' }],
  options: { ...filters, force: { type: 'boolean', description: 'Overwrite files that you have changed' } },
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
      report.finish();
      throw error;
    } finally {
      await writeBases(folder.path, folder.bases);
    }
    return report.finish();
  },
});

async function openFolder(path: string): Promise<Folder> {
  await mkdir(path, { recursive: true });
  const files = await readDocumentFiles(path);
  return {
    path,
    files: new Map(files.flatMap((file) => (file.id === undefined ? [] : [[file.id, file]]))),
    // also those of Markdown files, which a new document must not overwrite
    names: new Set((await readdir(path)).map((name) => name.replace(/\.(json|md)$/, ''))),
    bases: await readBases(path),
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
  const result = (outcome: FileResult['outcome'], message?: string): void =>
    report.add({ file: relative(context.cwd, path), id, outcome, ...(message && { message }) });
  try {
    const base = folder.bases.get(id);
    const isEdited = present !== undefined && toChecksum(present.content) !== base?.checksum;
    // earlier versions of this program wrote files without the ids of the nodes
    const lacksIds = present?.content.nodes.some(({ lineage_id }) => lineage_id === undefined) ?? false;
    const isReplaced = isEdited ? isForced : lacksIds;
    const known = present && base && !isReplaced ? base.etag : noEtag;
    const response = await client.withResponse.getDocument({ doc_id: id }, { ifNoneMatch: known });
    if (!response.isModified)
      return isEdited
        ? result('edited', 'Your changes stay. Push them, or pull with --force.')
        : result('unchanged');
    const content = toContent(response.data);
    const checksum = toChecksum(content);
    const isEqual = present !== undefined && toChecksum(present.content) === checksum;
    if (present && isEdited && !isEqual && !isForced)
      return result('conflict', 'The file and the document have changed. Merge them, or pull with --force.');
    if (!isEqual) await writeDocumentFile({ path, id, content });
    const markdown = await client.exportMarkdown({ doc_id: id, flavor: 'gfm' });
    await replaceFile(join(folder.path, `${toBaseName(path)}.md`), await markdown.bytes());
    folder.bases.set(id, { etag: response.etag ?? noEtag, checksum });
    result(isEqual ? 'unchanged' : 'pulled');
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
