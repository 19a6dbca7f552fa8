/** Stores templates in MongoDB: one row each, with the uploaded and the compiled file in GridFS. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type mongoose from 'mongoose';
import { z } from 'zod';
import { id, newId } from '#libs/contract';
import { type Actor, collection, objectId, type Store, type StoredRow } from '#libs/store';
import { Template } from '../contract.ts';
import type { Compilation, CompiledTemplate } from '../formats/template.ts';
import { compilerVersion } from '../formats/version.ts';
import type { RunTask } from '../workers/worker-pool.ts';

type FileId = mongoose.mongo.ObjectId;

/** The collection of templates. */
export const templates = collection('templates', {
  row: Template.omit({ id: true }).extend({
    _id: id,
    created_at: z.date(),
    updated_at: z.date(),
    /** SHA-256 of the uploaded file, hex. */
    sha256: z.string(),
    /** The template plan of the compiled package, as JSON text. */
    plan: z.string(),
    /** The compiler version that created the compiled file. */
    compiler: z.string(),
    original_file: objectId,
    compiled_file: objectId,
  }),
  indexes: [{ on: { organization_id: 1, _id: 1 } }],
});
export type TemplateRow = StoredRow<typeof templates>;

/** The GridFS bucket of template files. A file is named `<template id>/original.docx` or `…/compiled.zip`. */
export const templateBucket = 'template_files';

/** A template row without the fields that only rendering needs. */
export type TemplateSummary = Omit<TemplateRow, 'plan' | 'compiler'>;

/** A template to store. */
export interface NewTemplate {
  name: string;
  indent_inches: number;
  original: Uint8Array;
  compiled: CompiledTemplate;
  at: Date;
}

/** A template that documents can be rendered into. */
export interface RenderableTemplate {
  indentInches: number;
  /**
   * Loads the compiled package; undefined if the template was deleted. If an older compiler created it, `run`
   * compiles the original again.
   */
  load(run: RunTask): Promise<CompiledTemplate | undefined>;
}

export type TemplateStore = ReturnType<typeof templateStore>;

/** Creates the store of templates. `onError` is called for files that could not be deleted. */
export function templateStore(store: Store, onError: (message: string, error: unknown) => void) {
  const rows = store.rows(templates);
  const files = store.files(templateBucket);

  return {
    /** Stores a template and returns the reply. Files are written first and deleted if the row fails. */
    async add<R>(
      actor: Actor & { user_id: string },
      template: NewTemplate,
      reply: (row: TemplateSummary) => R,
    ): Promise<R> {
      const { organization_id, user_id } = actor;
      const { name, indent_inches, original, compiled, at } = template;
      const _id = newId();
      const fileIds: FileId[] = [];
      try {
        const original_file = await writeFile(`${_id}/original.docx`, original, fileIds);
        const compiled_file = await writeFile(`${_id}/compiled.zip`, compiled.bytes, fileIds);
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
        return await store.respond(actor, async (_, { session }) => {
          await rows.insertMany([row], { session, lean: true });
          return reply(row);
        });
      } catch (error) {
        await deleteFiles(fileIds);
        throw error;
      }
    },

    /** Lists the templates of the organization whose id is below `before`, newest first. */
    list(
      { organization_id }: Actor,
      { before, limit }: { before: string | undefined; limit: number },
    ): Promise<TemplateSummary[]> {
      const filter = { organization_id, ...(before !== undefined && { _id: { $lt: before } }) };
      return rows.find(filter, { plan: 0 }).sort({ _id: -1 }).limit(limit).lean().exec();
    },

    /** Finds a template of the organization. */
    async find({ organization_id }: Actor, _id: string): Promise<TemplateSummary | undefined> {
      return (await rows.findOne({ _id, organization_id }, { plan: 0 }).lean()) ?? undefined;
    },

    /** Finds a template of the organization for rendering. */
    async findRenderable({ organization_id }: Actor, _id: string): Promise<RenderableTemplate | undefined> {
      const row = await rows.findOne({ _id, organization_id }, { indent_inches: 1 }).lean();
      return row
        ? { indentInches: row.indent_inches, load: (run) => loadCompiled(organization_id, _id, run) }
        : undefined;
    },

    /** Deletes a template and its files; returns false if it was already deleted. */
    async remove({ organization_id }: Actor, template: TemplateSummary): Promise<boolean> {
      const { deletedCount } = await rows.deleteOne({ _id: template._id, organization_id });
      if (deletedCount === 0) return false;
      await deleteFiles([template.original_file, template.compiled_file]);
      return true;
    },
  };

  async function loadCompiled(
    organization_id: string,
    _id: string,
    run: RunTask,
  ): Promise<CompiledTemplate | undefined> {
    const row = await rows.findOne({ _id, organization_id }).lean();
    if (!row) return undefined;
    const { placeholders, warnings, sha256, compiler, compiled_file, original_file } = row;
    const isCurrent = compiler === compilerVersion;
    try {
      const bytes = await buffer(files.openDownloadStream(isCurrent ? compiled_file : original_file));
      if (!isCurrent) return requireTemplate(await run('compile', bytes), _id);
      return { bytes, placeholders, warnings, sha256, plan: JSON.parse(row.plan) };
    } catch (error) {
      // if the template was deleted in the meantime, its files are gone too
      if (await rows.exists({ _id, organization_id })) throw error;
      return undefined;
    }
  }

  /** Throws if an accepted template no longer compiles: this is a defect of the compiler. */
  function requireTemplate(compilation: Compilation, _id: string): CompiledTemplate {
    if (compilation.ok) return compilation.template;
    throw new Error(`Template ${_id} no longer compiles: ${compilation.fault.code}`);
  }

  /** Writes a file and first adds its id to `fileIds`, so that a partly written file can be deleted. */
  async function writeFile(name: string, bytes: Uint8Array, fileIds: FileId[]): Promise<FileId> {
    const upload = files.openUploadStream(name);
    fileIds.push(upload.id);
    await pipeline(Readable.from([bytes]), upload);
    return upload.id;
  }

  /** Deletes files; the sweep later deletes those that fail. */
  async function deleteFiles(ids: readonly FileId[]): Promise<void> {
    const results = await Promise.allSettled(ids.map((id) => files.delete(id)));
    for (const result of results)
      if (result.status === 'rejected') onError('Could not delete a template file', result.reason);
  }
}
