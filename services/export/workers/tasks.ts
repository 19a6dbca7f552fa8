/** The tasks of a worker: check templates and render files. A task gets ids and reads the rows itself. */
import { LRUCache } from 'lru-cache';
import type { Secret } from '#libs/contract';
import { type Image, readImage } from '#libs/rich-text';
import { isUnavailable, openReadOnlyStore } from '#libs/store';
import { builtIn, type MarkdownFlavor } from '../contract.ts';
import type { AssetImages, DocumentRecord } from '../formats/document.ts';
import { renderHtml } from '../formats/html.ts';
import { renderMarkdown } from '../formats/markdown.ts';
import { type CompiledTemplate, compileTemplate } from '../formats/template.ts';
import { renderWord } from '../formats/word.ts';
import { writeDocumentJson } from '../library/document-json.ts';
import { buildTree, maxPictureBytes, type NodeRow, toDocumentProperties } from '../rules.ts';
import { type DocumentSnapshot, documentStore } from '../store/documents.ts';
import { templateReader } from '../store/templates.ts';

/**
 * What a document becomes: a Word file with a template, Markdown in a flavor, an HTML file, or the `document.json` of a
 * library, which is a body for `POST /documents`.
 */
export type RenderTarget =
  | { templateId: string; record: DocumentRecord }
  | { flavor: MarkdownFlavor }
  | { page: true }
  | { library: true };

/** A version of a document to render. */
export interface RenderJob {
  snapshot: DocumentSnapshot;
  target: RenderTarget;
  /** Maximum total size of the document's nodes, bytes. A `document.json` needs little memory and has no maximum. */
  maxBytes: number;
}

/**
 * The file and the size of the nodes in bytes, or why there is no file: the document changed meanwhile, its nodes or
 * its uploaded pictures are too large, the template was deleted, or MongoDB is unavailable. With a `document.json`, the
 * ids of the pictures that it names.
 */
export type RenderResult =
  | { file: Uint8Array; readBytes: number; assetIds?: string[] }
  | { reason: 'changed' | 'too_large' | 'pictures_too_large' | 'no_template' | 'unavailable' };

/** The tasks by name. */
export type Tasks = ReturnType<typeof createTasks>;

type WordTemplate = { compiled: CompiledTemplate; indentInches: number };

/** Memory for compiled templates, bytes. */
const templateCacheBytes = 32 * 2 ** 20;

/** Creates the tasks, which run one at a time. They connect to MongoDB at first use. */
export function createTasks(mongodb: Secret) {
  let stores: Awaited<ReturnType<typeof openStores>> | undefined;
  // templates never change; the service authorizes each request
  const templates = new LRUCache<string, WordTemplate, string>({
    maxSize: templateCacheBytes,
    sizeCalculation: ({ compiled }) => compiled.bytes.byteLength,
    fetchMethod: (id, _stale, { context }) => (id === builtIn ? createBuiltIn() : loadTemplate(context, id)),
  });

  return {
    /** Validates an uploaded .docx file. */
    async checkTemplate(original: Uint8Array) {
      const compilation = await compileTemplate(original);
      if (!compilation.ok) return compilation;
      const { placeholders, warnings, sha256 } = compilation.template;
      return { ok: true as const, report: { placeholders, warnings, sha256 } };
    },

    /** Renders a document as a file. */
    async renderFile(job: RenderJob): Promise<RenderResult> {
      try {
        stores ??= await openStores(mongodb);
        return await render(job, stores.documents);
      } catch (error) {
        // an error loses its class on the way to the service
        if (isUnavailable(error)) return { reason: 'unavailable' };
        throw error;
      }
    },
  };

  async function render(
    { snapshot, target, maxBytes }: RenderJob,
    documents: ReturnType<typeof documentStore>,
  ): Promise<RenderResult> {
    const context = snapshot.organizationId;
    const word = 'record' in target ? target : undefined;
    const template = word && (await templates.fetch(word.templateId, { context }));
    if (word && !template) return { reason: 'no_template' };
    const source = await documents.readAt(snapshot);
    if (!source) return { reason: 'changed' };
    if ('library' in target) {
      const nodes = source.decodeNodes();
      const file = Buffer.from([...writeDocumentJson(source.document, nodes)].join(''));
      return { file, readBytes: source.nodeBytes, assetIds: listAssetIds(nodes) };
    }
    if (source.nodeBytes > maxBytes) return { reason: 'too_large' };
    const properties = toDocumentProperties(source.document, source.organization.name);
    const rows = source.decodeNodes();
    const document = { ...properties, nodes: buildTree(rows) };
    if ('flavor' in target) {
      const text = renderMarkdown(document, target.flavor);
      return { file: Buffer.from(text), readBytes: source.nodeBytes };
    }
    const pictures = await readPictures(documents, context, rows);
    if (!pictures) return { reason: 'pictures_too_large' };
    const { assets, pictureBytes } = pictures;
    const readBytes = source.nodeBytes + pictureBytes;
    if (!word || !template) {
      const page = renderHtml(source, rows, { assets, maxPictureBytes });
      return page ? { file: page, readBytes } : { reason: 'pictures_too_large' };
    }
    const file = await renderWord({ ...document, record: word.record, assets }, template.compiled, template);
    return { file, readBytes };
  }

  async function loadTemplate(organizationId: string, id: string): Promise<WordTemplate | undefined> {
    const template = await stores?.templates.load(organizationId, id);
    if (!template) return undefined;
    const compilation = await compileTemplate(template.original);
    // this is a defect of the compiler, because the upload was accepted
    if (!compilation.ok) throw new Error(`Template ${id} no longer compiles: ${compilation.fault.code}`);
    return { compiled: compilation.template, indentInches: template.indentInches };
  }
}

/** Reads the uploaded pictures that nodes show; undefined if they are too large. */
async function readPictures(
  documents: ReturnType<typeof documentStore>,
  organizationId: string,
  rows: readonly NodeRow[],
): Promise<{ assets: AssetImages; pictureBytes: number } | undefined> {
  const ids = listAssetIds(rows);
  const assets = new Map<string, Image>();
  let pictureBytes = 0;
  for await (const { id, bytes } of documents.readAssets(organizationId, ids)) {
    pictureBytes += bytes.byteLength;
    if (pictureBytes > maxPictureBytes) return undefined;
    const image = readImage(bytes);
    if (image) assets.set(id, image);
  }
  return { assets, pictureBytes };
}

/** The ids of the uploaded pictures that nodes name, each once. */
function listAssetIds(rows: readonly NodeRow[]): string[] {
  return [...new Set(rows.flatMap(({ asset_ids = [] }) => asset_ids))];
}

async function openStores(mongodb: Secret) {
  const store = await openReadOnlyStore(mongodb, 'export-worker');
  return { documents: documentStore(store), templates: templateReader(store) };
}

/** Creates the built-in template. Its large library is loaded only for this. */
async function createBuiltIn(): Promise<WordTemplate> {
  const { createDefaultTemplate } = await import('../formats/default-template.ts');
  return { compiled: await createDefaultTemplate(), indentInches: 0.5 };
}
