/** Tests the template operations over HTTP with a real MongoDB. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { type Person, register, type TestApp } from '#libs/testing';
import { attacks } from '../../tests/word/attacks.ts';
import { Template } from './contract.ts';
import { templateStore } from './store/templates.ts';
import { exportTestApp } from './testing/test-app.ts';

let app: TestApp;
let ada: Person;
let corporate: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
  corporate = new Uint8Array(
    await readFile(new URL('../../tests/fixtures/corporate-template.docx', import.meta.url)),
  );
});
afterAll(() => app?.stop());

function createForm(fields: Record<string, string>, file?: Uint8Array<ArrayBuffer>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  if (file) data.append('file', new Blob([file]), 'template.docx');
  return data;
}

const upload = (body: unknown, as = ada.key, headers: Record<string, string> = {}) =>
  app.request('POST', '/templates', { as, body, headers });
const listIds = async (as: string) =>
  (await app.request('GET', '/templates', { as })).body.map(({ id }: { id: string }) => id);
const findFiles = (id: string) =>
  app.db
    .collection('template_files.files')
    .find({ filename: new RegExp(`^${id}/`) })
    .toArray();

describe('upload', () => {
  test('an upload returns the template with its placeholders', async () => {
    const response = await upload(createForm({ name: ' Corporate ' }, corporate));
    expect(response.status).toBe(201);
    expect(Template.parse(response.body)).toMatchObject({
      organization_id: ada.organizationId,
      created_by: ada.userId,
      name: 'Corporate',
      indent_inches: 0.5,
      size_bytes: corporate.byteLength,
    });
    expect(response.body.placeholders).toEqual(expect.arrayContaining(['title', 'content']));
    expect(await findFiles(response.body.id)).toHaveLength(1);
  });

  test.each(['indent_inches', 'indent_width', 'indentation', 'indentation_width'])(
    'an upload accepts the indentation as %s and ignores other fields',
    async (name) => {
      const response = await upload(createForm({ name: 'T', [name]: '0.75', colour: 'blue' }, corporate));
      expect(response).toMatchObject({ status: 201, body: { indent_inches: 0.75 } });
    },
  );

  test.each(['-0.1', '3.01', '0,5', 'wide', 'NaN'])(
    'an upload with the indentation %s is a 400',
    async (indentation) => {
      const response = await upload(createForm({ name: 'T', indentation }, corporate));
      const errors = [{ path: 'body/indentation', message: expect.stringContaining('from 0 to 3') }];
      expect(response).toMatchObject({ status: 400, body: { errors } });
    },
  );

  test('an upload with an empty indentation uses the default', async () => {
    const response = await upload(createForm({ name: 'T', indent_inches: '' }, corporate));
    expect(response.body.indent_inches).toBe(0.5);
  });

  test('one 400 reports both a missing name and a missing file', async () => {
    const response = await upload(createForm({ colour: 'blue' }));
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(response.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      'body/file',
      'body/name',
    ]);
  });

  test('a file that is no document is rejected and not stored', async () => {
    const nonsense = new TextEncoder().encode('This is not a Word document');
    const response = await upload(createForm({ name: 'Nonsense' }, nonsense));
    expect(response).toMatchObject({ status: 400, body: { code: 'template_invalid' } });
    expect(response.body.reason).toMatch(/^[a-z_]+$/);
    expect(response.body.detail.length).toBeGreaterThan(20);
    const rows = app.db.collection('templates');
    expect(await rows.countDocuments({ name: 'Nonsense' })).toBe(0);
  });

  test('a zip bomb is rejected with the reason bomb', async () => {
    const bomb = new Uint8Array(attacks.find(({ verdict }) => verdict === 'bomb')?.create() ?? []);
    const response = await upload(createForm({ name: 'Bomb' }, bomb));
    expect(response).toMatchObject({ status: 400, body: { code: 'template_invalid', reason: 'bomb' } });
    expect((await upload(createForm({ name: 'Next' }, corporate))).status).toBe(201);
  });

  test('an upload deletes its files if the row cannot be written', async () => {
    await app.db.command({ collMod: 'templates', validator: { name: { $ne: 'Unlucky' } } });
    const before = await app.db.collection('template_files.files').countDocuments();
    expect((await upload(createForm({ name: 'Unlucky' }, corporate))).status).toBe(500);
    expect(await app.db.collection('template_files.files').countDocuments()).toBe(before);
    const files = await app.db.collection('template_files.files').distinct('_id');
    const chunks = app.db.collection('template_files.chunks');
    expect(await chunks.countDocuments({ files_id: { $nin: files } })).toBe(0);
  });

  test('an upload keeps its file if the commit of the row is unknown', async () => {
    const bucket = new mongoose.mongo.GridFSBucket(app.db, { bucketName: 'template_files' });
    const error = new mongoose.mongo.MongoNetworkError('cut');
    error.addErrorLabel('UnknownTransactionCommitResult');
    // only what the store uses
    const store = { rows: () => ({}), files: () => bucket, respond: () => Promise.reject(error) };
    const templates = templateStore(store as unknown as Store, () => undefined);
    const report = { placeholders: [], warnings: [], sha256: '' };
    const template = { name: 'T', indent_inches: 0.5, original: corporate, report, at: new Date() };
    const actor = { organization_id: newId(), user_id: newId() };
    const before = await app.db.collection('template_files.files').countDocuments();
    await expect(
      templates.add(
        actor,
        template,
        async () => undefined,
        () => undefined,
      ),
    ).rejects.toBe(error);
    expect(await app.db.collection('template_files.files').countDocuments()).toBe(before + 1);
  });

  test('an upload that is not multipart is a 400', async () => {
    const response = await upload({ name: 'T' });
    expect(response).toMatchObject({ status: 400, body: { code: 'malformed_multipart' } });
  });

  test('a template file larger than 10 MiB is a 413', async () => {
    const response = await upload(createForm({ name: 'T' }, new Uint8Array(10 * 1024 * 1024 + 1)));
    expect(response).toMatchObject({ status: 413, body: { limit_bytes: 10 * 1024 * 1024 } });
  });

  test('two uploads with one Idempotency-Key create one template', async () => {
    const key = { 'idempotency-key': 'once' };
    const first = await upload(createForm({ name: 'Once' }, corporate), ada.key, key);
    const second = await upload(createForm({ name: 'Once' }, corporate), ada.key, key);
    expect(second.body).toEqual(first.body);
    expect(await app.db.collection('templates').countDocuments({ name: 'Once' })).toBe(1);
  });
});

describe('list', () => {
  test('the list has pages, newest first, of the own organization only', async () => {
    const bob = await register(app);
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three'])
      ids.unshift((await upload(createForm({ name }, corporate), bob.key)).body.id);
    expect(await listIds(bob.key)).toEqual(ids);

    const first = await app.request('GET', '/templates?limit=2', { as: bob.key });
    expect(first.body.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    const [, next = ''] = /<\/api\/v1([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    const second = await app.request('GET', next, { as: bob.key });
    expect(second.body.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
    expect(second.headers.get('link')).toBeNull();
    for (const row of [...first.body, ...second.body]) Template.parse(row);
  });

  test('an invalid cursor of the template list is a 400', async () => {
    expect((await app.request('GET', '/templates?cursor=x', { as: ada.key })).status).toBe(400);
  });
});

describe('delete', () => {
  const remove = (id: string, as = ada.key) => app.request('DELETE', `/templates/${id}`, { as });

  test('deleting a template also deletes its files', async () => {
    const { id } = (await upload(createForm({ name: 'T' }, corporate))).body;
    expect((await remove(id)).status).toBe(204);
    expect(await listIds(ada.key)).not.toContain(id);
    expect(await findFiles(id)).toEqual([]);
    expect((await remove(id)).status).toBe(404);
  });

  test('another member who deletes a template gets a 403', async () => {
    const { id } = (await upload(createForm({ name: 'T' }, corporate))).body;
    const body = { name: 'Member', role: 'member' };
    const member = (await app.request('POST', '/api-keys', { as: ada.token, body })).body.key;
    await app.db
      .collection<{ _id: string }>('templates')
      .updateOne({ _id: id }, { $set: { created_by: newId() } });
    expect(await remove(id, member)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await remove(id)).status).toBe(204);
  });

  test('deleting a template of another organization is a 404', async () => {
    const { id } = (await upload(createForm({ name: 'T' }, corporate))).body;
    const eve = await register(app);
    const responses = [await remove(id, eve.key), await remove(newId(), eve.key), await remove('x', eve.key)];
    for (const { status, body } of responses) expect([status, body.code]).toEqual([404, 'not_found']);
    expect(await listIds(ada.key)).toContain(id);
  });
});

test('a template that exceeds the memory of a worker is a 400', async () => {
  const small = await exportTestApp({ EXPORT_WORKER_MEMORY_MB: '32' });
  try {
    const heavy = new Uint8Array(
      attacks.find(({ name }) => name.startsWith('130,000 bookmarks'))?.create() ?? [],
    );
    const uploadSmall = (file: Uint8Array<ArrayBuffer>) =>
      small.app.request('POST', '/templates', { as: small.ada.key, body: createForm({ name: 'T' }, file) });
    const response = await uploadSmall(heavy);
    expect(response).toMatchObject({ status: 400, body: { code: 'template_invalid', reason: 'too_large' } });
    expect(response.body.detail).toContain('32 MB');
    expect((await uploadSmall(corporate)).status).toBe(201);
  } finally {
    await small.app.stop();
  }
});
