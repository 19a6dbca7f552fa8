/** Writes the `document.json` of a library: the words of a document, as a body for `POST /documents`. */
import { groupByParent } from '../../documents/views.ts';
import type { NodeRow } from '../rules.ts';

/** The fields of a document besides its nodes. */
export interface DocumentFields {
  title: string;
  version: string | null;
  department: string | null;
}

/** Writes the JSON in parts, one for each node. Stored rich text is JSON text already. */
export function* writeDocumentJson(
  { title, version, department }: DocumentFields,
  rows: readonly NodeRow[],
): Generator<string> {
  const children = groupByParent(rows);
  function* writeSiblings(parent: string | null): Generator<string> {
    let before = '[';
    for (const { _id, node_type, title: name, content } of children.get(parent) ?? []) {
      const fields = JSON.stringify({ node_type, title: name }).slice(0, -1);
      yield `${before}${fields},"content":${content ?? 'null'},"children":`;
      yield* writeSiblings(_id);
      yield '}';
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  }
  yield `${JSON.stringify({ title, version, department }).slice(0, -1)},"nodes":`;
  yield* writeSiblings(null);
  yield '}';
}
