/** Renders the preview of an import in a worker, so that the service only passes its bytes on. */
import type { TreeInput } from '../shapes.ts';
import { type ConvertedFile, convertFile, type ImportedDocument, type ImportFile } from './conversion.ts';
import type { ImportFault } from './import-fault.ts';

/** A preview as JSON, and what the service stores and counts. */
export interface PreviewedFile extends Pick<ConvertedFile, 'pictures' | 'report'> {
  json: Uint8Array;
}

/** Converts a file and renders the preview. */
export async function previewFile(
  file: ImportFile,
): Promise<{ ok: true; file: PreviewedFile } | { ok: false; fault: ImportFault }> {
  const conversion = await convertFile(file);
  if (!conversion.ok) return conversion;
  const { documents, pictures, report } = conversion.file;
  return { ok: true, file: { json: Buffer.from(renderPreview(documents, report)), pictures, report } };
}

/** The rich text is JSON text already. */
function renderPreview(documents: readonly ImportedDocument[], report: ConvertedFile['report']): string {
  const texts = documents.map(({ nodes, ...fields }) => {
    const opening = JSON.stringify(fields).slice(0, -1);
    return `${opening},"nodes":${renderNodes(nodes)}}`;
  });
  return `{"documents":[${texts.join(',')}],"report":${JSON.stringify(report)}}`;
}

function renderNodes(nodes: readonly TreeInput[]): string {
  const texts = nodes.map(({ node_type, title, content, children = [] }) => {
    const opening = JSON.stringify({ node_type, title }).slice(0, -1);
    return `${opening},"content":${content ?? 'null'},"children":${renderNodes(children)}}`;
  });
  return `[${texts.join(',')}]`;
}
