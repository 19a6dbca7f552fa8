/** What is done in a thread: templates are compiled and files rendered. The pool loads it once in each thread. */
import { setPriority } from 'node:os';
import process from 'node:process';
import { deserialize } from 'bson';
import { defaultTemplate } from '../formats/default-template.ts';
import type { DocumentFacts } from '../formats/document.ts';
import { renderMarkdown } from '../formats/markdown.ts';
import { type CompiledTemplate, compileTemplate } from '../formats/template.ts';
import { renderWord } from '../formats/word.ts';
import { type NodeRow, treeOf } from '../rules.ts';

/** A document on its way into a thread: its nodes are BSON, one after the other. */
export interface Job {
  facts: DocumentFacts;
  nodes: Uint8Array<ArrayBuffer>;
}

/** A document and the template that it is rendered into. */
export interface WordJob extends Job {
  template: CompiledTemplate;
  indentInches: number;
}

stepBack();

/** Validates an upload and makes it ready to be filled. */
export function compile(original: Uint8Array) {
  return compileTemplate(original);
}

/** Makes the built-in template. */
export function builtIn() {
  return defaultTemplate();
}

/** A document as a Word file. */
export function word({ facts, nodes, template, indentInches }: WordJob): Promise<Uint8Array> {
  return renderWord({ ...facts, nodes: treeOf(rowsIn(nodes)) }, template, { indentInches });
}

/** A document as Markdown. */
export function markdown({ facts, nodes }: Job): Uint8Array {
  return Buffer.from(renderMarkdown({ ...facts, nodes: treeOf(rowsIn(nodes)) }));
}

/** Each document of BSON begins with its size, 32 bits with the lowest first (bsonspec.org). */
function rowsIn(bytes: Uint8Array<ArrayBuffer>): NodeRow[] {
  const sizes = new DataView(bytes.buffer);
  const rows: NodeRow[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const size = sizes.getInt32(at, true);
    // what the view of documents shows
    rows.push(deserialize(bytes.subarray(at, at + size)) as NodeRow);
    at += size;
  }
  return rows;
}

/** Whoever waits for an answer goes first where cores are few. Only Linux knows a priority for each thread; Deno asks for a permission. */
function stepBack(): void {
  if (process.platform !== 'linux' || process.versions.deno) return;
  setPriority(10);
}
