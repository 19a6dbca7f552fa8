/** The tasks of a worker: compile templates and render files. Each worker thread loads this file once. */
import { deserialize } from 'bson';
import { workerData } from 'piscina';
import { Secret } from '#libs/contract';
import { isUnavailable, openReadOnlyStore } from '#libs/store';
import { createDefaultTemplate } from '../formats/default-template.ts';
import type { DocumentProperties, ExportDocument } from '../formats/document.ts';
import { renderMarkdown } from '../formats/markdown.ts';
import { type CompiledTemplate, compileTemplate } from '../formats/template.ts';
import { renderWord } from '../formats/word.ts';
import { buildTree, type NodeRow } from '../rules.ts';
import { type DocumentSnapshot, nodeStore } from '../store/documents.ts';

/** The data that each worker receives when it starts. */
export interface WorkerData {
  /** MongoDB's address. */
  uri: string;
}

/** A document to render. */
export interface RenderJob {
  properties: DocumentProperties;
  snapshot: DocumentSnapshot;
  /** Maximum total size of the document's nodes, bytes. */
  maxBytes: number;
}

/** A document to render into a Word template. */
export interface WordRenderJob extends RenderJob {
  template: CompiledTemplate;
  indentInches: number;
}

/**
 * The file and the size of the nodes in bytes, or why there is no file: the document changed meanwhile, its
 * nodes are too large, or MongoDB is unavailable.
 */
export type RenderResult =
  | { file: Uint8Array; readBytes: number }
  | { reason: 'changed' | 'too_large' | 'unavailable' };

const { uri }: WorkerData = workerData;
let nodes: Promise<ReturnType<typeof nodeStore>> | undefined;

/** Does nothing: it returns as soon as the worker has loaded this file. */
export function load(): void {
  // loading the file is the task
}

/** Validates an uploaded .docx file and compiles it. */
export function compile(original: Uint8Array) {
  return compileTemplate(original);
}

/** Compiles the built-in template. */
export function compileBuiltIn() {
  return createDefaultTemplate();
}

/** Renders a document as a Word file. */
export function exportWord({ template, indentInches, ...job }: WordRenderJob): Promise<RenderResult> {
  return renderJob(job, (document) => renderWord(document, template, { indentInches }));
}

/** Renders a document as Markdown. */
export function exportMarkdown(job: RenderJob): Promise<RenderResult> {
  return renderJob(job, (document) => Buffer.from(renderMarkdown(document)));
}

async function renderJob(
  { properties, snapshot, maxBytes }: RenderJob,
  render: (document: ExportDocument) => Uint8Array | Promise<Uint8Array>,
): Promise<RenderResult> {
  const rows = await getNodeStore()
    .then((nodes) => nodes.readAt(snapshot))
    .catch(nullIfUnavailable);
  if (rows === null) return { reason: 'unavailable' };
  if (!rows) return { reason: 'changed' };
  const readBytes = rows.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (readBytes > maxBytes) return { reason: 'too_large' };
  const file = await render({ ...properties, nodes: buildTree(rows.map(parseRow)) });
  return { file, readBytes };
}

/** Returns null for an unavailable database: an error would lose its class on the way out of the thread. */
function nullIfUnavailable(error: unknown): null {
  if (isUnavailable(error)) return null;
  throw error;
}

/** Connects this worker to MongoDB, so that large data does not pass through the service's process. */
function getNodeStore() {
  nodes ??= openReadOnlyStore(new Secret(uri), 'export-worker')
    .then(nodeStore)
    .catch((error: unknown) => {
      nodes = undefined;
      throw error;
    });
  return nodes;
}

/** Parses the BSON of a node, as the view of documents returns it. */
function parseRow(bytes: Uint8Array): NodeRow {
  return deserialize(bytes) as NodeRow;
}
