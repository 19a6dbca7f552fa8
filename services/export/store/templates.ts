/** Stores templates in MongoDB: one row each, with the uploaded file in GridFS. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type mongoose from 'mongoose';
import { z } from 'zod';
import { id, newId } from '#libs/contract';
import {
  type Actor,
  collection,
  isCommitUnknown,
  objectId,
  type ReadOnlyStore,
  type Store,
  type StoredRow,
  type Transaction,
} from '#libs/store';
import { Template } from '../contract.ts';
import { TemplateCreated, TemplateDeleted } from '../events.ts';

type FileId = mongoose.mongo.ObjectId;

/** The collection of templates. */
export const templates = collection('templates', {
  row: Template.omit({ id: true }).extend({
    _id: id,
    created_at: z.date(),
    updated_at: z.date(),
    /** SHA-256 of the uploaded file, hex. */
    sha256: z.string(),
    original_file: objectId,
    /** Only in older rows, with `plan` and `compiler`: the compiled template. */
    compiled_file: objectId.exactOptional(),
  }),
  indexes: [{ on: { organization_id: 1, _id: 1 } }],
});
export type TemplateRow = StoredRow<typeof templates>;

/** The GridFS bucket of template files. A file is named `<template id>/original.docx`. */
export const templateBucket = 'template_files';

/** A template to store. */
export interface NewTemplate {
  name: string;
  indent_inches: number;
  original: Uint8Array;
  report: Pick<TemplateRow, 'placeholders' | 'warnings' | 'sha256'>;
  at: Date;
}

export type TemplateStore = ReturnType<typeof templateStore>;

/** Creates the store of templates. `onError` is called for files that could not be deleted. */
export function templateStore(store: Store, onError: (message: string, error: unknown) => void) {
  const rows = store.rows(templates);
  const files = store.files(templateBucket);

  return {
    /**
     * Stores a template and returns the reply. The file is written first. It is deleted if `claim` or the row fails,
     * unless MongoDB did not say whether the row is committed.
     */
    async add<R>(
      actor: Actor & { user_id: string },
      template: NewTemplate,
      claim: (within: Actor & { tx: Transaction }) => Promise<void>,
      reply: (row: TemplateRow) => R,
    ): Promise<R> {
      const { organization_id, user_id } = actor;
      const { name, indent_inches, original, report, at } = template;
      const _id = newId();
      const upload = files.openUploadStream(`${_id}/original.docx`);
      try {
        await pipeline(Readable.from([original]), upload);
        const row: TemplateRow = {
          _id,
          organization_id,
          created_by: user_id,
          name,
          indent_inches,
          created_at: at,
          updated_at: at,
          size_bytes: original.byteLength,
          ...report,
          original_file: upload.id,
        };
        return await store.respond(actor, async (within, { session }) => {
          await claim(within);
          await rows.insertMany([row], { session, lean: true });
          within.tx.publish(TemplateCreated, { template_id: _id, sha256: row.sha256 });
          return reply(row);
        });
      } catch (error) {
        // the row may exist; if it does not, the sweep deletes the file
        if (!isCommitUnknown(error)) await deleteFiles([upload.id]);
        throw error;
      }
    },

    /** Returns the size of all templates of the organization, bytes. */
    async sumBytes({ organization_id, tx }: Actor & { tx: Transaction }): Promise<number> {
      const sum = { $group: { _id: null, bytes: { $sum: '$size_bytes' } } } as const;
      const [found] = await rows
        .aggregate<{ bytes: number }>([{ $match: { organization_id } }, sum])
        .session(tx.session);
      return found?.bytes ?? 0;
    },

    /** Lists the templates of the organization whose id is below `before`, newest first. */
    list(
      { organization_id }: Actor,
      { before, limit }: { before: string | undefined; limit: number },
    ): Promise<TemplateRow[]> {
      const filter = { organization_id, ...(before !== undefined && { _id: { $lt: before } }) };
      return rows.find(filter).sort({ _id: -1 }).limit(limit).lean().exec();
    },

    /** Finds a template of the organization. */
    async find({ organization_id }: Actor, _id: string): Promise<TemplateRow | undefined> {
      return (await rows.findOne({ _id, organization_id }).lean()) ?? undefined;
    },

    /** Returns the placeholders of a template; undefined if the organization does not have the template. */
    async findPlaceholders({ organization_id }: Actor, _id: string): Promise<readonly string[] | undefined> {
      const row = await rows.findOne({ _id, organization_id }, { placeholders: 1 }).lean();
      return row?.placeholders;
    },

    /** Deletes a template and its files; returns false if it was already deleted. */
    async remove(actor: Actor, template: TemplateRow): Promise<boolean> {
      const { organization_id } = actor;
      const isDeleted = await store.transact(actor, async (tx) => {
        const filter = { _id: template._id, organization_id };
        const { deletedCount } = await rows.deleteOne(filter, { session: tx.session });
        if (deletedCount === 0) return false;
        tx.publish(TemplateDeleted, { template_id: template._id, sha256: template.sha256 });
        return true;
      });
      if (!isDeleted) return false;
      const { original_file, compiled_file } = template;
      await deleteFiles(compiled_file ? [original_file, compiled_file] : [original_file]);
      return true;
    },
  };

  /** Deletes files; the sweep later deletes those that fail. */
  async function deleteFiles(ids: readonly FileId[]): Promise<void> {
    const results = await Promise.allSettled(ids.map((id) => files.delete(id)));
    for (const result of results)
      if (result.status === 'rejected') onError('Could not delete a template file', result.reason);
  }
}

/** Creates the reader of uploaded templates, which runs in the workers. */
export function templateReader(store: Pick<ReadOnlyStore, 'rows' | 'files'>) {
  const rows = store.rows(templates);
  const files = store.files(templateBucket);

  return {
    /** Loads a template of the organization; undefined if it was deleted. */
    async load(
      organization_id: string,
      _id: string,
    ): Promise<{ original: Uint8Array; indentInches: number } | undefined> {
      const row = await rows.findOne({ _id, organization_id }).lean();
      if (!row) return undefined;
      try {
        const original = await buffer(files.openDownloadStream(row.original_file));
        return { original, indentInches: row.indent_inches };
      } catch (error) {
        // if the template was deleted in the meantime, its file is gone too
        if (await rows.exists({ _id, organization_id })) throw error;
        return undefined;
      }
    },
  };
}
