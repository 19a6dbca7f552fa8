/** What uploads that were cut off leave behind, with a real MongoDB. */
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
}, 60_000);
afterAll(() => app?.stop());

const bucket = () => new GridFSBucket(app.db, { bucketName: 'template_files' });
const files = () => app.db.collection('template_files.files');
const chunks = () => app.db.collection('template_files.chunks');

/** An id that a process made so many minutes ago. */
const idFrom = (minutes: number) => {
  const seconds = Math.floor(Date.now() / 1000) - minutes * 60;
  return new ObjectId(seconds.toString(16).padStart(8, '0') + new ObjectId().toHexString().slice(8));
};

/** Files as the upload writes them, of a template that got no row; `whole` or as far as a process came that died. */
async function leave(
  _id: Id,
  { whole }: { whole: boolean },
  name = newId(),
  bytes = Buffer.alloc(600_000, 'x'),
) {
  const upload = bucket().openUploadStreamWithId(_id, `${name}/original.docx`);
  await new Promise<void>((done, failed) => upload.on('error', failed).on('finish', done).end(bytes));
  if (!whole) await files().deleteOne({ _id });
  return _id;
}

const isThere = async (_id: Id) =>
  (await files().countDocuments({ _id })) + (await chunks().countDocuments({ files_id: _id })) > 0;

test('files without a template go after an hour, whole or not; those of an upload that may be under way and of templates stay', async () => {
  const template = await uploaded();
  const old = await Promise.all([true, false].map((whole) => leave(idFrom(61), { whole })));
  const young = await Promise.all([true, false].map((whole) => leave(idFrom(59), { whole })));
  const kept = await aged(template);
  await app.restart();

  const swept = () => app.logLines().filter(({ msg }) => msg?.startsWith('Files of templates'));
  await until('the sweep', async () => swept().length > 0);
  expect(swept()).toMatchObject([{ files: 2 }]);
  expect(await Promise.all(old.map(isThere))).toEqual([false, false]);
  expect(await Promise.all(young.map(isThere))).toEqual([true, true]);
  expect(await Promise.all(kept.map(isThere))).toEqual([true, true]);
  const { body } = await app.request('POST', '/documents', { as: ada.key, body: { title: 'SOP' } });
  const path = `/documents/${body.id}/export/word?template_id=${template}`;
  expect(await app.request('GET', path, { as: ada.key })).toMatchObject({ status: 200 });
});

async function uploaded(): Promise<string> {
  const file = await readFile(new URL('../../tests/fixtures/corporate-template.docx', import.meta.url));
  const form = new FormData();
  form.append('name', 'Kept');
  form.append('file', new Blob([new Uint8Array(file)]), 'template.docx');
  return (await app.request('POST', '/templates', { as: ada.key, body: form })).body.id;
}

/** Makes a template as if it had been uploaded two hours ago; gives the ids of its files. */
async function aged(template: string): Promise<Id[]> {
  const rows = app.db.collection<{ _id: string; original_file: Id; compiled_file: Id }>('templates');
  const row = await rows.findOne({ _id: template });
  if (!row) throw new Error('The template has no row');
  const moved = async (id: Id) => {
    const bytes = await buffer(bucket().openDownloadStream(id));
    await bucket().delete(id);
    return leave(idFrom(120), { whole: true }, template, bytes);
  };
  const [original_file, compiled_file] = [await moved(row.original_file), await moved(row.compiled_file)];
  await rows.updateOne({ _id: template }, { $set: { original_file, compiled_file } });
  return [original_file, compiled_file];
}
