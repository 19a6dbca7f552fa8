/** What is done in a thread: templates are compiled and files rendered. The pool loads it once in each thread. */
import { deserialize } from 'bson';
import { workerData } from 'piscina';
import { Secret } from '#libs/contract';
import { isUnavailable, openReadOnlyStore } from '#libs/store';
import { defaultTemplate } from '../formats/default-template.ts';
import type { DocumentFacts, ExportDocument } from '../formats/document.ts';
import { renderMarkdown } from '../formats/markdown.ts';
import { type CompiledTemplate, compileTemplate } from '../formats/template.ts';
import { renderWord } from '../formats/word.ts';
import { type NodeRow, treeOf } from '../rules.ts';
import { type Moment, nodeStore } from '../store/documents.ts';

/** What a thread is given when it begins. */
export interface Given {
  /** MongoDB's address. */
  uri: string;
}

/** A document to be made into a file. */
export interface Job {
  facts: DocumentFacts;
  moment: Moment;
  /** The most that its nodes may take. */
  maxBytes: number;
}

/** A document and the template that it is rendered into. */
export interface WordJob extends Job {
  template: CompiledTemplate;
  indentInches: number;
}

/** The file and how large the nodes were, or why there is none: the document was written meanwhile, its nodes are too large, or there is no database. */
export type Made =
  | { file: Uint8Array; readBytes: number }
  | { because: 'changed' | 'too_large' | 'unavailable' };

/** What the pool gives to each of its threads. */
const { uri }: Given = workerData;
let nodes: Promise<ReturnType<typeof nodeStore>> | undefined;

/** Validates an upload and makes it ready to be filled. */
export function compile(original: Uint8Array) {
  return compileTemplate(original);
}

/** Makes the built-in template. */
export function builtIn() {
  return defaultTemplate();
}

/** A document as a Word file. */
export function word({ template, indentInches, ...job }: WordJob): Promise<Made> {
  return made(job, (document) => renderWord(document, template, { indentInches }));
}

/** A document as Markdown. */
export function markdown(job: Job): Promise<Made> {
  return made(job, (document) => Buffer.from(renderMarkdown(document)));
}

async function made(
  { facts, moment, maxBytes }: Job,
  render: (document: ExportDocument) => Uint8Array | Promise<Uint8Array>,
): Promise<Made> {
  const rows = await opened()
    .then((nodes) => nodes.at(moment))
    .catch(noDatabase);
  if (rows === null) return { because: 'unavailable' };
  if (!rows) return { because: 'changed' };
  const readBytes = rows.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (readBytes > maxBytes) return { because: 'too_large' };
  const file = await render({ ...facts, nodes: treeOf(rows.map(rowOf)) });
  return { file, readBytes };
}

/** Nothing, if that is why; an error would come out of the thread without its name. */
function noDatabase(error: unknown): null {
  if (isUnavailable(error)) return null;
  throw error;
}

/** A connection of the thread's own: what is large never comes by those who wait for answers. */
function opened() {
  nodes ??= openReadOnlyStore(new Secret(uri), 'export-thread')
    .then(nodeStore)
    .catch((error: unknown) => {
      nodes = undefined;
      throw error;
    });
  return nodes;
}

/** What the view of documents shows. */
function rowOf(bytes: Uint8Array): NodeRow {
  return deserialize(bytes) as NodeRow;
}
