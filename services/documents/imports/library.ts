/** Reads a library archive, as the export writes it: its manifest, its documents and their pictures. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { findLoneSurrogates, id, languageTag } from '#libs/contract';
import type { Parts } from '#libs/opc';
import { cleanPicture } from '#libs/pictures';
import { contentHash } from '../approval-shapes.ts';
import { assetId, assetType } from '../asset-shapes.ts';
import { computeContentHash } from '../content-hash.ts';
import { libraryFormat, manifestPath, toAssetPath, toDocumentPaths } from '../library-archive.ts';
import { newDocument } from '../new-document.ts';
import type { CanonicalFields } from '../rules/canonical-content.ts';
import { countBytes, maxContentBytes, maxNodes, type PlacedNode, placeNodes } from '../rules/hierarchy.ts';
import type { TreeInput } from '../shapes.ts';
import { rejectImport, rejectSize } from './import-fault.ts';
import type { ImportedPicture } from './pictures.ts';

/** A document of a library: a `newDocument`, whose language the manifest has. */
export interface LibraryDocument {
  title: string;
  version: string | null;
  department: string | null;
  language: string | null;
  nodes: TreeInput[];
}

/** The documents and pictures of a library, and the number of all nodes. */
export interface Library {
  documents: LibraryDocument[];
  pictures: ImportedPicture[];
  nodes: number;
}

/** The maximum number of documents in one import. Nodes and rich text have the limits of one document. */
const maxDocuments = 500;

/** What an import reads of a manifest. Later formats have a higher version. */
const manifestSchema = z.object({
  format: z.literal(libraryFormat.format),
  version: z.literal(
    libraryFormat.version,
    `this version of the service reads only ${libraryFormat.version}`,
  ),
  documents: z.array(
    z.object({
      ...{ path: z.string(), id, language: languageTag.nullish() },
      // a draft that is not in approval has none
      content_hash: contentHash.nullish(),
    }),
  ),
  assets: z.array(z.object({ path: z.string(), id: assetId, media_type: assetType })),
});
type Manifest = z.infer<typeof manifestSchema>;

/** Reads the library. Errors: `ImportRejected`. */
export async function readLibrary(parts: Parts): Promise<Library> {
  const manifest = readManifest(parts);
  if (manifest.documents.length > maxDocuments)
    rejectSize(
      'import_too_large',
      `The library has more than ${maxDocuments} documents. Export parts of it.`,
    );
  const pictures = manifest.assets.map((asset) => readPicture(parts, asset));
  const known = new Set(pictures.map((picture) => picture.id));
  const size = { nodes: 0, bytes: 0 };
  const documents: LibraryDocument[] = [];
  for (const { path, language, content_hash } of manifest.documents) {
    const { document, assets, placed } = readDocument(parts, path);
    for (const asset of assets)
      if (asset.id === undefined || !known.has(asset.id))
        rejectManifest(`${asset.path.replace(/^body/, path)}: the manifest has no such picture`);
    size.nodes += placed.length;
    size.bytes += placed.reduce((sum, { input }) => sum + countBytes(input.content ?? null), 0);
    checkSize(size);
    if (content_hash && (await hashWords(document, placed)) !== content_hash)
      rejectManifest(`the file ${path} has changed`);
    documents.push({ ...document, language: language ?? null });
  }
  return { documents, pictures, nodes: size.nodes };
}

/** Resolves with the content hash of a document. */
function hashWords(document: CanonicalFields, placed: readonly PlacedNode[]): Promise<string> {
  const toId = (at: number) => String(at).padStart(5, '0');
  const nodes = placed.map(({ input: { node_type, title, content }, parent, order }, at) => ({
    ...{ _id: toId(at), parent_id: parent === null ? null : toId(parent), order },
    ...{ node_type, title, content: content ?? null },
  }));
  return computeContentHash(document, nodes);
}

function checkSize({ nodes, bytes }: { nodes: number; bytes: number }): void {
  if (nodes > maxNodes)
    rejectSize('import_too_large', `The library has more than ${maxNodes} nodes. Export parts of it.`);
  if (bytes > maxContentBytes)
    rejectSize('import_too_large', 'The text of the library is larger than 32 MiB. Export parts of it.');
}

function readManifest(parts: Parts): Manifest {
  const parsed = manifestSchema.safeParse(parseJson(parts, manifestPath));
  if (!parsed.success) return rejectManifest(describe(parsed.error));
  const { documents, assets } = parsed.data;
  for (const [name, entries, toPath] of [
    ['documents', documents, (at: number) => toDocumentPaths(documents[at]?.id ?? '').json],
    ['assets', assets, (at: number) => (assets[at] ? toAssetPath(assets[at]) : '')],
  ] as const) {
    if (new Set(entries.map((entry) => entry.id)).size < entries.length)
      rejectManifest(`${name}: an id is repeated`);
    for (const [at, { path }] of entries.entries())
      if (path !== toPath(at)) rejectManifest(`${name}/${at}/path: must be ${toPath(at)}`);
  }
  return parsed.data;
}

function readDocument(parts: Parts, path: string) {
  const value = parseJson(parts, path);
  const [invalid] = findLoneSurrogates(value, path);
  if (invalid) rejectImport('malformed', `${invalid.path}: ${invalid.message}.`);
  const parsed = newDocument.safeParse(value);
  if (!parsed.success) return rejectImport('malformed', `${path}: ${describe(parsed.error)}`);
  const { title, version, department, nodes, assets } = parsed.data;
  const { nodes: placed, misplaced } = placeNodes(nodes);
  const [first] = misplaced;
  if (first !== undefined)
    rejectImport('malformed', `${path}: ${first.replace('body/', '')} is at the wrong level.`);
  const document = { title, version: version ?? null, department: department ?? null, nodes };
  return { document, assets, placed };
}

/** The bytes of a picture decide its id, and they are as an upload stores them. */
function readPicture(parts: Parts, { id, path, media_type }: Manifest['assets'][number]): ImportedPicture {
  const bytes = parts.get(path) ?? rejectManifest(`the file ${path} is missing`);
  const cleaned = cleanPicture(bytes);
  const isSame = cleaned.ok && cleaned.picture.mediaType === media_type;
  if (!isSame || toHash(bytes) !== id || toHash(cleaned.picture.bytes) !== id)
    return rejectManifest(`the file ${path} has changed`);
  return { ...cleaned.picture, id };
}

function parseJson(parts: Parts, path: string): unknown {
  const bytes = parts.get(path) ?? rejectManifest(`the file ${path} is missing`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return rejectManifest(`the file ${path} is not JSON`);
  }
}

const toHash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function describe({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('/') || 'the file'}: ${issue?.message}`;
}

function rejectManifest(what: string): never {
  return rejectImport('bad_manifest', `The library cannot be imported: ${what}.`);
}
