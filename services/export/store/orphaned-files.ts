/** What a process that died during an upload has left in GridFS: files without their template, chunks without their file. */
import mongoose from 'mongoose';
import type { Store } from '#libs/store';
import { templateBucket, templates } from './templates.ts';

/** How long an upload may take from its first file to its row, and clocks may differ; it takes seconds. */
const graceMs = 60 * 60 * 1000;

/** Removes what was left behind more than an hour ago; gives the number of files. Processes may do it at the same time. */
export function orphanedFiles(store: Store, now: () => Date) {
  const { db } = store.rows(templates);
  const files = db.collection(`${templateBucket}.files`);
  const chunks = db.collection(`${templateBucket}.chunks`);

  return async function sweep(): Promise<number> {
    // the id of a file says when its upload began; its chunks know no other time
    const before = mongoose.mongo.ObjectId.createFromTime(Math.floor((now().getTime() - graceMs) / 1000));
    const rowless = await idsOf(files, [
      { $match: { _id: { $lt: before } } },
      { $set: { template: { $first: { $split: ['$filename', '/'] } } } },
      ownerOf({ from: templates.name, localField: 'template' }),
    ]);
    await files.deleteMany({ _id: { $in: rowless } });
    const fileless = await idsOf(chunks, [
      { $match: { files_id: { $lt: before } } },
      { $group: { _id: '$files_id' } },
      ownerOf({ from: files.collectionName, localField: '_id' }),
    ]);
    await chunks.deleteMany({ files_id: { $in: fileless } });
    return new Set([...rowless, ...fileless].map(String)).size;
  };
}

type Rows = ReturnType<ReturnType<Store['rows']>['db']['collection']>;

/** Looks up what a file or a chunk belongs to, by its id. */
function ownerOf(options: { from: string; localField: string }) {
  return { $lookup: { ...options, foreignField: '_id', pipeline: [{ $project: { _id: 1 } }], as: 'owner' } };
}

async function idsOf(rows: Rows, stages: object[]): Promise<mongoose.mongo.ObjectId[]> {
  const found = await rows
    .aggregate([...stages, { $match: { owner: [] } }, { $project: { _id: 1 } }])
    .toArray();
  return found.map(({ _id }) => _id);
}
