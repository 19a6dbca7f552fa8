/**
 * Makes documents of the Markdown files of a folder: `node sync.ts sops`. A new file becomes a document, and its id is
 * written into the file. A changed file becomes a new version. Git is the source: changes in the service are replaced.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type Client,
  createClient,
  type Document,
  type Node,
  type NodeInput,
} from 'process-document-service-client';
import { type DocumentContent, readFrontMatter, toDocument } from './markdown.ts';

const [folder = 'sops'] = process.argv.slice(2);
const { PDS_URL: url, PDS_KEY: key } = process.env;
if (!url || !key) {
  console.error('Set PDS_URL to the address of the service, and PDS_KEY to an API key.');
  process.exit(2);
}
const client = createClient({ url, key });

const names = await readdir(folder, { recursive: true });
for (const name of names.filter((one) => one.endsWith('.md')).sort()) {
  const path = join(folder, name);
  try {
    console.log(`${path}: ${await syncFile(client, path)}`);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Creates or updates the document of a file. Returns what was done. */
async function syncFile(client: Client, path: string): Promise<string> {
  // some editors begin a file with a byte order mark
  const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  const { id, draft } = readFrontMatter(text).values;
  const content = toDocument(text, path);
  if (id === undefined) {
    const created = await client.createDocument({ body: content });
    // at once, so that the next run does not create it again
    await writeFile(path, addId(text, created.id));
    if (draft === 'true') return 'created';
    await client.publishDocument({ doc_id: created.id });
    return 'created and published';
  }
  const document = await findCurrent(client, id);
  const isEqual = isDeepStrictEqual(toContent(document), content);
  if (document.status === 'published') {
    if (isEqual) return 'unchanged';
    if (draft === 'true') return 'skipped: the document is published, so remove "draft: true"';
    await publishRevision(client, document, content);
    return 'revised and published';
  }
  if (!isEqual) await replaceContent(client, document.id, content);
  if (draft === 'true') return isEqual ? 'unchanged' : 'updated';
  await client.publishDocument({ doc_id: document.id });
  return 'published';
}

/** The draft with this id, or the published version of the document that had this id at first. */
async function findCurrent(client: Client, doc_id: string): Promise<Document> {
  const document = await client.getDocument({ doc_id });
  if (document.status !== 'archived') return document;
  const versions = await client.listVersions({ doc_id });
  const current = versions.find(({ archived_at }) => archived_at === null);
  if (!current)
    throw new Error('the document is archived. Remove the file, or its id to create a new document');
  return client.getDocument({ doc_id: current.id });
}

/** Publishes a new version. Leaves no draft if that fails. */
async function publishRevision(client: Client, document: Document, content: DocumentContent): Promise<void> {
  const { id: doc_id } = await client.reviseDocument({ doc_id: document.id });
  try {
    await replaceContent(client, doc_id, content);
    await client.publishDocument({ doc_id });
  } catch (error) {
    await client.deleteDocument({ doc_id });
    throw error;
  }
}

async function replaceContent(client: Client, doc_id: string, content: DocumentContent): Promise<void> {
  const { nodes, ...fields } = content;
  const present = toContent(await client.getDocument({ doc_id }));
  await client.replaceTree({ doc_id, body: { nodes } });
  // only what differs, because a revision may have to get another version
  const changed = Object.entries(fields).filter(
    ([name, value]) => present[name as keyof typeof fields] !== value,
  );
  if (changed.length > 0) await client.updateDocument({ doc_id, body: Object.fromEntries(changed) });
}

/** The content of a document as a page has it. */
function toContent({ title, version, department, language, nodes }: Document): DocumentContent {
  return { title, version, department, language, nodes: nodes.map(toNodeInput) };
}

function toNodeInput({ node_type, title, content, children }: Node): NodeInput {
  return {
    node_type,
    title,
    ...(content && { content }),
    ...(children.length > 0 && { children: children.map(toNodeInput) }),
  };
}

function addId(text: string, id: string): string {
  return text.startsWith('---')
    ? text.replace(/^---\r?\n/, `$&id: ${id}\n`)
    : `---\nid: ${id}\n---\n\n${text}`;
}
