/** Templates in MongoDB: a row each, the uploaded file and its compiled form in GridFS. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { type Actor, collection, type Store } from '#libs/store';
import type { Compilation, CompiledTemplate } from '../formats/template.ts';
import { compilerVersion } from '../formats/version.ts';
import type { Run } from '../workers/worker-pool.ts';

type FileId = mongoose.mongo.ObjectId;

export interface TemplateRow {
  _id: string;
  organization_id: string;
  created_by: string;
  name: string;
  indent_inches: number;
  created_at: Date;
  updated_at: Date;
  /** Of the uploaded file. */
  size_bytes: number;
  placeholders: string[];
  warnings: string[];
  /** Of the uploaded file, hex. */
  sha256: string;
  /** What the renderer must know about the compiled package, as JSON text. */
  plan: string;
  /** The version of what compiled it. */
  compiler: string;
  original_file: FileId;
  compiled_file: FileId;
}

/** The templates of all organizations. */
export const templates = collection<TemplateRow>('templates', {
  fields: {
    _id: String,
    organization_id: String,
    created_by: String,
    name: String,
    indent_inches: Number,
    created_at: Date,
    updated_at: Date,
    size_bytes: Number,
    placeholders: [String],
    warnings: [String],
    sha256: String,
    plan: String,
    compiler: String,
    original_file: mongoose.Schema.Types.ObjectId,
    compiled_file: mongoose.Schema.Types.ObjectId,
  },
  indexes: [{ on: { organization_id: 1, _id: 1 } }],
});

/** The GridFS bucket of their files, which are named after the template: `id/original.docx`, `id/compiled.zip`. */
export const templateBucket = 'template_files';

/** A row without what only rendering needs. */
export type TemplateFacts = Omit<TemplateRow, 'plan' | 'compiler'>;

/** A template to be kept. */
export interface NewTemplate {
  name: string;
  indent_inches: number;
  original: Uint8Array;
  compiled: CompiledTemplate;
  at: Date;
}

/** A template that can be rendered with. */
export interface UsableTemplate {
  indentInches: number;
  /** Its compiled package; nothing when it was deleted meanwhile. What an older version compiled is compiled again by `run`. */
  load(run: Run): Promise<CompiledTemplate | undefined>;
}

export type TemplateStore = ReturnType<typeof templateStore>;

/** What export keeps of templates. `onError` is told of files that could not be removed. */
export function templateStore(store: Store, onError: (what: string, error: unknown) => void) {
  const rows = store.rows(templates);
  const files = store.files(templateBucket);

  return {
    /** Keeps a template and gives the reply: its files first, its row after; without the row the files are removed again. */
    async add<R>(
      acting: Actor & { user_id: string },
      made: NewTemplate,
      reply: (row: TemplateFacts) => R,
    ): Promise<R> {
      const { organization_id, user_id } = acting;
      const { name, indent_inches, original, compiled, at } = made;
      const _id = newId();
      const kept: FileId[] = [];
      try {
        const original_file = await write(`${_id}/original.docx`, original, kept);
        const compiled_file = await write(`${_id}/compiled.zip`, compiled.bytes, kept);
        const row: TemplateRow = {
          _id,
          organization_id,
          created_by: user_id,
          name,
          indent_inches,
          created_at: at,
          updated_at: at,
          size_bytes: original.byteLength,
          placeholders: compiled.placeholders,
          warnings: compiled.warnings,
          sha256: compiled.sha256,
          plan: JSON.stringify(compiled.plan),
          compiler: compilerVersion,
          original_file,
          compiled_file,
        };
        return await store.respond(acting, async (_, { session }) => {
          await rows.insertMany([row], { session, lean: true });
          return reply(row);
        });
      } catch (error) {
        await discard(kept);
        throw error;
      }
    },

    /** The templates of the organization, the newest first, from below the id `before`. */
    list(
      { organization_id }: Actor,
      { before, limit }: { before: string | undefined; limit: number },
    ): Promise<TemplateFacts[]> {
      const which = { organization_id, ...(before !== undefined && { _id: { $lt: before } }) };
      return rows.find(which, { plan: 0 }).sort({ _id: -1 }).limit(limit).lean().exec();
    },

    /** A template of the organization. */
    async find({ organization_id }: Actor, _id: string): Promise<TemplateFacts | undefined> {
      return (await rows.findOne({ _id, organization_id }, { plan: 0 }).lean()) ?? undefined;
    },

    /** A template to render with. */
    async usable({ organization_id }: Actor, _id: string): Promise<UsableTemplate | undefined> {
      const found = await rows.findOne({ _id, organization_id }, { indent_inches: 1 }).lean();
      return found
        ? { indentInches: found.indent_inches, load: (run) => compiled(organization_id, _id, run) }
        : undefined;
    },

    /** Removes a template; false when it was gone already. */
    async remove({ organization_id }: Actor, template: TemplateFacts): Promise<boolean> {
      const { deletedCount } = await rows.deleteOne({ _id: template._id, organization_id });
      if (deletedCount === 0) return false;
      await discard([template.original_file, template.compiled_file]);
      return true;
    },
  };

  async function compiled(
    organization_id: string,
    _id: string,
    run: Run,
  ): Promise<CompiledTemplate | undefined> {
    const row = await rows.findOne({ _id, organization_id }).lean();
    if (!row) return undefined;
    const { placeholders, warnings, sha256, compiler, compiled_file, original_file } = row;
    const isCurrent = compiler === compilerVersion;
    try {
      const bytes = await buffer(files.openDownloadStream(isCurrent ? compiled_file : original_file));
      if (!isCurrent) return anew(await run('compile', bytes), _id);
      return { bytes, placeholders, warnings, sha256, plan: JSON.parse(row.plan) };
    } catch (error) {
      // the file of a template that was deleted at this moment is gone, too
      if (await rows.exists({ _id, organization_id })) throw error;
      return undefined;
    }
  }

  /** What was accepted once is not refused later: that would be our defect, not the uploader's. */
  function anew(compilation: Compilation, _id: string): CompiledTemplate {
    if (compilation.ok) return compilation.template;
    throw new Error(`Template ${_id} cannot be compiled any more: ${compilation.fault.code}`);
  }

  /** Writes a file and notes its id in `kept`, also when it was written in part only. */
  async function write(name: string, bytes: Uint8Array, kept: FileId[]): Promise<FileId> {
    const upload = files.openUploadStream(name);
    kept.push(upload.id);
    await pipeline(Readable.from([bytes]), upload);
    return upload.id;
  }

  /** Removes files; what stays behind is swept later. */
  async function discard(ids: readonly FileId[]): Promise<void> {
    const results = await Promise.allSettled(ids.map((id) => files.delete(id)));
    for (const result of results)
      if (result.status === 'rejected') onError('A template file could not be removed', result.reason);
  }
}
