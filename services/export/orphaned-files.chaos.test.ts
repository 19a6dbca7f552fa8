/** Tests the sweep of orphaned template files with a real MongoDB. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { type Person, type TestApp, until } from '#libs/testing';
import { exportTestApp } from './testing/test-app.ts';

const { GridFSBucket, ObjectId } = mongoose.mongo;
type Id = InstanceType<typeof ObjectId>;

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
});
afterAll(() => app?.stop());

const bucket = () => new GridFSBucket(app.db, { bucketName: 'template_files' });
const files = () => app.db.collection('template_files.files');
const chunks = () => app.db.collection('template_files.chunks');

/** Creates an id with a timestamp some minutes ago. */
const createIdFrom = (minutes: number) => {
  const seconds = Math.floor(Date.now() / 1000) - minutes * 60;
  return new ObjectId(seconds.toString(16).padStart(8, '0') + new ObjectId().toHexString().slice(8));
};

/** Writes the file of a template without a row; if not `isComplete`, only its chunks. */
async function writeOrphan(
  _id: Id,
  { isComplete }: { isComplete: boolean },
  name = newId(),
  bytes = Buffer.alloc(600_000, 'x'),
) {
  const upload = bucket().openUploadStreamWithId(_id, `${name}/original.docx`);
  await new Promise<void>((resolve, reject) => upload.on('error', reject).on('finish', resolve).end(bytes));
  if (!isComplete) await files().deleteOne({ _id });
  return _id;
}

const exists = async (_id: Id) =>
  (await files().countDocuments({ _id })) + (await chunks().countDocuments({ files_id: _id })) > 0;

test('the sweep deletes orphaned files after one hour and keeps others', async () => {
  const template = await upload();
  const old = await Promise.all(
    [true, false].map((isComplete) => writeOrphan(createIdFrom(61), { isComplete })),
  );
  const young = await Promise.all(
    [true, false].map((isComplete) => writeOrphan(createIdFrom(59), { isComplete })),
  );
  const owned = await makeOlder(template);
  await app.restart();

  const sweeps = () => app.logLines().filter(({ msg }) => msg === 'Deleted orphaned template files');
  await until('the sweep', async () => sweeps().length > 0);
  expect(sweeps()).toMatchObject([{ files: 2 }]);
  expect(await Promise.all(old.map(exists))).toEqual([false, false]);
  expect(await Promise.all(young.map(exists))).toEqual([true, true]);
  expect(await exists(owned)).toBe(true);
  const { body } = await app.request('POST', '/documents', { as: ada.key, body: { title: 'SOP' } });
  const path = `/documents/${body.id}/export/word?template_id=${template}`;
  expect(await app.request('GET', path, { as: ada.key })).toMatchObject({ status: 200 });
});

async function upload(): Promise<string> {
  const file = await readFile(new URL('../../tests/fixtures/corporate-template.docx', import.meta.url));
  const form = new FormData();
  form.append('name', 'Owned');
  form.append('file', new Blob([new Uint8Array(file)]), 'template.docx');
  return (await app.request('POST', '/templates', { as: ada.key, body: form })).body.id;
}

/** Replaces a template's file by a copy that is two hours old; returns its id. */
async function makeOlder(template: string): Promise<Id> {
  const rows = app.db.collection<{ _id: string; original_file: Id }>('templates');
  const row = await rows.findOne({ _id: template });
  if (!row) throw new Error('The template has no row');
  const bytes = await buffer(bucket().openDownloadStream(row.original_file));
  await bucket().delete(row.original_file);
  const original_file = await writeOrphan(createIdFrom(120), { isComplete: true }, template, bytes);
  await rows.updateOne({ _id: template }, { $set: { original_file } });
  return original_file;
}
