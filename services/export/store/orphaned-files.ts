/** Deletes what interrupted uploads leave in GridFS: files without a template row, chunks without a file. */
import mongoose from 'mongoose';
import type { Store } from '#libs/store';
import { templateBucket, templates } from './templates.ts';

/** Maximum time from an upload's first file to its row, plus clock skew; usually it takes seconds. */
const graceMs = 60 * 60 * 1000;

/**
 * Creates a sweep that deletes orphaned files older than one hour and returns their number. Several processes
 * may run it at the same time.
 */
export function createOrphanedFileSweep(store: Store, now: () => Date) {
  const { db } = store.rows(templates);
  const files = db.collection(`${templateBucket}.files`);
  const chunks = db.collection(`${templateBucket}.chunks`);

  return async function sweep(): Promise<number> {
    // a file's id contains the time of its upload; chunks have no other timestamp
    const before = mongoose.mongo.ObjectId.createFromTime(Math.floor((now().getTime() - graceMs) / 1000));
    const orphanedFiles = await findUnowned(files, [
      { $match: { _id: { $lt: before } } },
      { $set: { template: { $first: { $split: ['$filename', '/'] } } } },
      createOwnerLookup({ from: templates.name, localField: 'template' }),
    ]);
    await files.deleteMany({ _id: { $in: orphanedFiles } });
    const orphanedChunks = await findUnowned(chunks, [
      { $match: { files_id: { $lt: before } } },
      { $group: { _id: '$files_id' } },
      createOwnerLookup({ from: files.collectionName, localField: '_id' }),
    ]);
    await chunks.deleteMany({ files_id: { $in: orphanedChunks } });
    return new Set([...orphanedFiles, ...orphanedChunks].map(String)).size;
  };
}

type MongoCollection = ReturnType<ReturnType<Store['rows']>['db']['collection']>;

/** Creates a $lookup stage for the owner of a file or chunk. */
function createOwnerLookup(options: { from: string; localField: string }) {
  return { $lookup: { ...options, foreignField: '_id', pipeline: [{ $project: { _id: 1 } }], as: 'owner' } };
}

async function findUnowned(
  collection: MongoCollection,
  stages: object[],
): Promise<mongoose.mongo.ObjectId[]> {
  const found = await collection
    .aggregate([...stages, { $match: { owner: [] } }, { $project: { _id: 1 } }])
    .toArray();
  return found.map(({ _id }) => _id);
}
