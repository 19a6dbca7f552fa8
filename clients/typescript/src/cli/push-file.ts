/** Pushes one file: creates or updates its draft. */
import { basename, dirname } from 'node:path';
import type { Client } from '../client.ts';
import { ProblemError } from '../errors.ts';
import type { Document } from '../generated/contract.ts';
import { createOnce } from './create-once.ts';
import {
  type Base,
  type Bases,
  type DocumentContent,
  type DocumentFile,
  readBases,
  toChecksum,
  toContent,
  writeBases,
  writeDocumentFile,
} from './document-files.ts';
import { FileError } from './exit-codes.ts';
import { assertWritable } from './files.ts';
import { publishDraft } from './publish-draft.ts';
import type { FileResult } from './sync-report.ts';

const archivedMessage =
  'The document is archived, so it cannot change. If a new version has replaced it, pull and edit that one.';

const missingMessage =
  'The document of this "id" does not exist, or is in another organization. Delete the file, or its "id" to create a document.';

/** What a push does. */
export interface PushOptions {
  revise: boolean;
  publish: boolean;
  force: boolean;
  'dry-run': boolean;
  'accept-changes': boolean;
}

/** What happened to a file, and the id of its document if that is new. */
type Pushed = Pick<FileResult, 'outcome' | 'message'> & { id?: string };

/** What a push of one file needs. */
interface Push {
  client: Client;
  file: DocumentFile;
  options: PushOptions;
  /** The base of the file's document. */
  base: Base | undefined;
  /**
   * Stores the state of a document after a write, so that a failure of the next write is no conflict later, and whether
   * it is still to be published. Default: as the options say.
   */
  record(
    id: string,
    etag: string | undefined,
    content: DocumentContent,
    isPublishPending?: boolean,
  ): Promise<void>;
  /** The bases of the file's folder. */
  bases: Bases;
}

/** Creates or updates the draft of a file. Rejects with a `PublishError` if only publishing fails. */
export async function pushFile(client: Client, file: DocumentFile, options: PushOptions): Promise<Pushed> {
  const folder = dirname(file.path);
  const bases = await readBases(folder);
  const base = file.id === undefined ? undefined : bases.get(file.id);
  const push: Push = {
    client,
    file,
    options,
    base,
    bases,
    async record(id, etag, content, isPublishPending = options.publish) {
      if (etag === undefined) return;
      // the Markdown copy belongs to the file, also if the file now belongs to a revision
      const copy = base?.markdown && { markdown: base.markdown, markdown_outdated: true as const };
      const mark = isPublishPending && { publish_pending: true as const };
      bases.set(id, { etag, checksum: toChecksum(content), ...copy, ...mark });
      bases.delete(basename(file.path));
      await writeBases(folder, bases);
    },
  };
  return file.id === undefined ? create(push) : update(push, file.id);
}

async function create(push: Push): Promise<Pushed> {
  const { client, file, options, record } = push;
  if (options['dry-run']) return { outcome: 'created' };
  // else each push would create another document
  await assertWritable(file.path);
  const body = file.content;
  const { data, etag, id } = await createOnce({
    client,
    path: file.path,
    bases: push.bases,
    checksum: toChecksum(body),
    async send(idempotencyKey) {
      const response = await client.withResponse.createDocument({ body }, { idempotencyKey });
      return { ...response, id: response.data.id };
    },
  });
  // as the service has written it: without spaces at the ends, for example
  const content = toContent(data);
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
  const request = client.withResponse.getDocument({ doc_id }, { ifNoneMatch: known });
  const response = await request.catch((error: unknown) => {
    if (error instanceof ProblemError && error.code === 'not_found') throw new FileError(missingMessage);
    throw error;
  });
  const isPending = base?.publish_pending === true;
  const unchanged: Written = { id: doc_id, etag: base?.etag, content: file.content };
  if (!response.isModified) return isPending ? publishPending(push, unchanged) : { outcome: 'unchanged' };
  const { data: document, etag } = response;
  const present = toChecksum(toContent(document));
  if (present === checksum) {
    const isDraft = document.status === 'draft';
    if (!options['dry-run']) await record(doc_id, etag, file.content, isPending && isDraft);
    return isPending && isDraft ? publishPending(push, { ...unchanged, etag }) : { outcome: 'unchanged' };
  }
  if (!isEdited && !options.force)
    return { outcome: 'outdated', message: 'The document has changed. Pull it.' };
  if (document.status === 'archived') return { outcome: 'failed', message: archivedMessage };
  // publishing or a review changes the ETag, but not the content
  const isChanged = base?.etag !== etag && base?.checksum !== present;
  if (isChanged && !options.force) return { outcome: 'conflict', message: describeConflict(base) };
  if (document.status === 'published') return revise(push, document, etag);
  if (options['dry-run']) return { outcome: 'updated' };
  await assertWritable(file.path);
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
  await assertWritable(file.path);
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
  written.content = toContent(updated.data);
  // the service removes spaces at the ends, for example
  if (toChecksum({ ...written.content, nodes }) !== toChecksum(file.content))
    await writeDocumentFile({ ...file, id, content: written.content });
  await record(id, written.etag, written.content);
  return written;
}

/** Publishes an unchanged draft that an earlier push was to publish. */
async function publishPending(push: Push, draft: Written): Promise<Pushed> {
  if (!push.options.publish) return { outcome: 'unchanged' };
  if (!push.options['dry-run']) await publishIfWanted(push, draft);
  return { outcome: 'published' };
}

async function publishIfWanted(
  { client, options, record }: Pick<Push, 'client' | 'options' | 'record'>,
  { id, etag, content }: Written,
): Promise<void> {
  if (options.publish) await record(id, await publishDraft(client, id, etag), content, false);
}
