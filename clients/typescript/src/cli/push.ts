/** `pds push`: creates or updates drafts from the files of a folder. */
import { dirname, relative, resolve } from 'node:path';
import type { Client } from '../client.ts';
import type { Document } from '../generated/contract.ts';
import { command } from './command.ts';
import {
  type Base,
  type DocumentContent,
  type DocumentFile,
  readBases,
  readDocumentFiles,
  toChecksum,
  toContent,
  writeBases,
  writeDocumentFile,
} from './document-files.ts';
import { isFatal } from './exit-codes.ts';
import { isImportable } from './import-files.ts';
import { findImports, findSubfolders, pushImport } from './push-imports.ts';
import { createReport, type FileResult, type Report } from './sync-report.ts';

interface PushOptions {
  revise: boolean;
  publish: boolean;
  force: boolean;
  'dry-run': boolean;
  'accept-changes': boolean;
}

type Pushed = Pick<FileResult, 'outcome' | 'message'> & { id?: string };

/** What a push of one file needs. */
interface Push {
  client: Client;
  file: DocumentFile;
  options: PushOptions;
  /** The base of the file's document. */
  base: Base | undefined;
  /** Stores the state of a document after a write, so that a failure of the next write is no conflict later. */
  record(id: string, etag: string | undefined, content: DocumentContent): Promise<void>;
}

export const push = command({
  name: 'push',
  summary: 'Create or update drafts from the files of a folder',
  details: `Reads <name>.json files, see docs/cli.md. A file without an id creates a draft, and gets its id. A file with an id
updates that draft, unless somebody else has changed it since your last pull or push. Exit code 5 if that happened.
Word, Markdown and HTML files without a .json file of the same name are imported: each becomes a draft and gets one.
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
    const client = await context.client();
    const resolved = paths.map((path) => resolve(context.cwd, path));
    const sources = resolved.filter((path) => !isImportable(path));
    const files = (await Promise.all(sources.map(readDocumentFiles))).flat();
    const imports = (await Promise.all(resolved.map(findImports))).flat();
    const importOptions = {
      isDryRun: options['dry-run'],
      isPublished: options.publish,
      acceptChanges: options['accept-changes'],
      used: new Set<string>(),
    };
    const report = createReport(context);
    const total = files.length + imports.length;
    for (const [at, file] of files.entries()) {
      context.progress(`${at + 1} of ${total}: ${file.content.title}`);
      const name = relative(context.cwd, file.path);
      await reportErrors(report, name, file.id, async () => {
        const { outcome, message, id = file.id } = await pushFile(client, file, options);
        report.add({ file: name, id, outcome, ...(message && { message }) });
      });
    }
    for (const [at, path] of imports.entries()) {
      const name = relative(context.cwd, path);
      context.progress(`${files.length + at + 1} of ${total}: ${name}`);
      await reportErrors(report, name, undefined, async () => {
        const { id, message } = await pushImport(client, path, importOptions);
        report.add({ file: name, id, outcome: 'created', message });
      });
    }
    const subfolders = (await Promise.all(sources.map(findSubfolders))).flat();
    const left = subfolders.filter((path) => !resolved.includes(path));
    if (left.length > 0)
      context.note(`Subfolders are not read: ${left.map((path) => relative(context.cwd, path)).join(', ')}`);
    return report.finish();
  },
});

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
    if (isFatal(error)) {
      report.abort();
      throw error;
    }
    report.addError(name, id, error);
  }
}

async function pushFile(client: Client, file: DocumentFile, options: PushOptions): Promise<Pushed> {
  const folder = dirname(file.path);
  const bases = await readBases(folder);
  const push: Push = {
    client,
    file,
    options,
    base: file.id === undefined ? undefined : bases.get(file.id),
    async record(id, etag, content) {
      if (etag === undefined) return;
      bases.set(id, { etag, checksum: toChecksum(content) });
      await writeBases(folder, bases);
    },
  };
  return file.id === undefined ? create(push) : update(push, file.id);
}

async function create({ client, file, options, record }: Push): Promise<Pushed> {
  if (options['dry-run']) return { outcome: 'created' };
  const { data, etag } = await client.withResponse.createDocument({ body: file.content });
  const { id } = data;
  const content = { ...file.content, nodes: toContent(data).nodes };
  // at once, so that a later push does not create a second document
  await writeDocumentFile({ ...file, id, content });
  await record(id, etag, content);
  await publishIfWanted({ client, options, record }, { id, etag, content });
  return { outcome: 'created', id };
}

async function update(push: Push, doc_id: string): Promise<Pushed> {
  const { client, file, options, base, record } = push;
  const checksum = toChecksum(file.content);
  const isEdited = base?.checksum !== checksum;
  const known = base && !isEdited ? base.etag : '"none"';
  const response = await client.withResponse.getDocument({ doc_id }, { ifNoneMatch: known });
  if (!response.isModified) return { outcome: 'unchanged' };
  const { data: document, etag } = response;
  if (toChecksum(toContent(document)) === checksum) {
    if (!options['dry-run']) await record(doc_id, etag, file.content);
    return { outcome: 'unchanged' };
  }
  if (!isEdited && !options.force)
    return { outcome: 'outdated', message: 'The document has changed. Pull it.' };
  if (base?.etag !== etag && !options.force) return { outcome: 'conflict', message: describeConflict(base) };
  if (document.status === 'archived')
    return { outcome: 'failed', message: 'The document is archived, so it cannot change.' };
  if (document.status === 'published') return revise(push, document, etag);
  if (options['dry-run']) return { outcome: 'updated' };
  await publishIfWanted(push, await write(push, document, etag));
  return { outcome: 'updated' };
}

function describeConflict(base: Base | undefined): string {
  return base
    ? 'The file and the document have changed. Pull the document to another folder and merge, or push with --force.'
    : 'Others may have changed the document: this folder has no record of a pull. Push with --force to overwrite it.';
}

/** Creates a revision draft with the content of the file. The file then belongs to the draft. */
async function revise(push: Push, document: Document, etag: string | undefined): Promise<Pushed> {
  const { client, file, options, record } = push;
  if (!options.revise)
    return {
      outcome: 'failed',
      message: 'The document is published. Push with --revise to create a revision draft.',
    };
  if (options['dry-run']) return { outcome: 'revised' };
  const draft = await client.withResponse.reviseDocument({ doc_id: document.id }, { ifMatch: etag });
  const { id } = draft.data;
  await writeDocumentFile({ ...file, id });
  await record(id, draft.etag, toContent(draft.data));
  await publishIfWanted(push, await write(push, draft.data, draft.etag));
  return { outcome: 'revised', id };
}

/** A document as it was just written. */
interface Written {
  id: string;
  etag: string | undefined;
  content: DocumentContent;
}

/** Writes what differs between the document and the file, and the ids of new nodes into the file. */
async function write(
  { client, file, record }: Push,
  document: Document,
  etag: string | undefined,
): Promise<Written> {
  const { nodes: present, ...presentFields } = toContent(document);
  const { nodes, ...fields } = file.content;
  const { id } = document;
  const written: Written = { id, etag, content: file.content };
  // the tree first, because it is more likely to be rejected
  if (toChecksum(nodes) !== toChecksum(present)) {
    const replaced = await client.withResponse.replaceTree(
      { doc_id: id, body: { nodes } },
      { ifMatch: etag },
    );
    written.etag = replaced.etag;
    written.content = { ...fields, nodes: toContent(replaced.data).nodes };
    await writeDocumentFile({ ...file, id, content: written.content });
    await record(id, written.etag, { ...presentFields, nodes: written.content.nodes });
  }
  const body = Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => presentFields[name as keyof typeof fields] !== value),
  );
  if (Object.keys(body).length === 0) return written;
  const updated = await client.withResponse.updateDocument({ doc_id: id, body }, { ifMatch: written.etag });
  written.etag = updated.etag;
  await record(id, written.etag, written.content);
  return written;
}

async function publishIfWanted(
  { client, options, record }: Pick<Push, 'client' | 'options' | 'record'>,
  { id, etag, content }: Written,
): Promise<void> {
  if (!options.publish) return;
  const published = await client.withResponse.publishDocument({ doc_id: id }, { ifMatch: etag });
  await record(id, published.etag, content);
}
