/** Uploading, listing and deleting templates, over HTTP with a real MongoDB. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp } from '#libs/testing';
import { Template } from './contract.ts';
import { attacks } from './testing/attacks.ts';
import { exportTestApp } from './testing/test-app.ts';

let app: TestApp;
let ada: Person;
let corporate: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
  corporate = new Uint8Array(
    await readFile(new URL('../../tests/fixtures/corporate-template.docx', import.meta.url)),
  );
}, 60_000);
afterAll(() => app?.stop());

function form(fields: Record<string, string>, file?: Uint8Array<ArrayBuffer>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  if (file) data.append('file', new Blob([file]), 'template.docx');
  return data;
}

const upload = (body: unknown, as = ada.key, headers: Record<string, string> = {}) =>
  app.request('POST', '/templates', { as, body, headers });
const idsOf = async (as: string) =>
  (await app.request('GET', '/templates', { as })).body.map((one: { id: string }) => one.id);
const filesOf = (id: string) =>
  app.db
    .collection('template_files.files')
    .find({ filename: new RegExp(`^${id}/`) })
    .toArray();

describe('uploading', () => {
  test('gives a template with the decided fields and what was found in it', async () => {
    const made = await upload(form({ name: ' Corporate ' }, corporate));
    expect(made.status).toBe(201);
    expect(Template.parse(made.body)).toMatchObject({
      organization_id: ada.organizationId,
      created_by: ada.userId,
      name: 'Corporate',
      indent_inches: 0.5,
      size_bytes: corporate.byteLength,
    });
    expect(made.body.placeholders).toEqual(expect.arrayContaining(['title', 'content']));
    expect(await filesOf(made.body.id)).toHaveLength(2);
  });

  test.each(['indent_inches', 'indent_width', 'indentation', 'indentation_width'])(
    'takes the indentation as %s, and ignores other parts',
    async (name) => {
      const made = await upload(form({ name: 'T', [name]: '0.75', colour: 'blue' }, corporate));
      expect(made).toMatchObject({ status: 201, body: { indent_inches: 0.75 } });
    },
  );

  test.each(['-0.1', '3.01', 'wide', 'NaN'])('refuses an indentation of %s', async (indentation) => {
    const refused = await upload(form({ name: 'T', indentation }, corporate));
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'body/indentation' }] } });
  });

  test('an empty indentation is none', async () => {
    const made = await upload(form({ name: 'T', indent_inches: '' }, corporate));
    expect(made.body.indent_inches).toBe(0.5);
  });

  test('a missing name and a missing file are told at once', async () => {
    const refused = await upload(form({ colour: 'blue' }));
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(refused.body.errors.map((one: { path: string }) => one.path).sort()).toEqual([
      'body/file',
      'body/name',
    ]);
  });

  test('nonsense is refused with its reason, and nothing is kept', async () => {
    const nonsense = new TextEncoder().encode('This is no Word document');
    const refused = await upload(form({ name: 'Nonsense' }, nonsense));
    expect(refused).toMatchObject({ status: 400, body: { code: 'template_invalid' } });
    expect(refused.body.reason).toMatch(/^[a-z_]+$/);
    expect(refused.body.detail.length).toBeGreaterThan(20);
    const rows = app.db.collection('templates');
    expect(await rows.countDocuments({ name: 'Nonsense' })).toBe(0);
  });

  test('a small file that would take all memory is refused with its reason', async () => {
    const bomb = new Uint8Array(attacks.find(({ verdict }) => verdict === 'bomb')?.make() ?? []);
    const refused = await upload(form({ name: 'Bomb' }, bomb));
    expect(refused).toMatchObject({ status: 400, body: { code: 'template_invalid', reason: 'bomb' } });
    expect((await upload(form({ name: 'Next' }, corporate))).status).toBe(201);
  });

  test('without its row no file of a template stays', async () => {
    await app.db.command({ collMod: 'templates', validator: { name: { $ne: 'Unlucky' } } });
    const before = await app.db.collection('template_files.files').countDocuments();
    expect((await upload(form({ name: 'Unlucky' }, corporate))).status).toBe(500);
    expect(await app.db.collection('template_files.files').countDocuments()).toBe(before);
    const files = await app.db.collection('template_files.files').distinct('_id');
    const chunks = app.db.collection('template_files.chunks');
    expect(await chunks.countDocuments({ files_id: { $nin: files } })).toBe(0);
  });

  test('a body that is not multipart is a 400', async () => {
    const refused = await upload({ name: 'T' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'malformed_multipart' } });
  });

  test('a file over the limit is a 413', async () => {
    const refused = await upload(form({ name: 'T' }, new Uint8Array(10 * 1024 * 1024 + 1)));
    expect(refused).toMatchObject({ status: 413, body: { limit_bytes: 10 * 1024 * 1024 } });
  });

  test('the same Idempotency-Key makes one template', async () => {
    const key = { 'idempotency-key': 'once' };
    const first = await upload(form({ name: 'Once' }, corporate), ada.key, key);
    const second = await upload(form({ name: 'Once' }, corporate), ada.key, key);
    expect(second.body).toEqual(first.body);
    expect(await app.db.collection('templates').countDocuments({ name: 'Once' })).toBe(1);
  });
});

describe('listing', () => {
  test('is by pages, the newest first, of the own organization only', async () => {
    const bob = await register(app);
    const made: string[] = [];
    for (const name of ['one', 'two', 'three'])
      made.unshift((await upload(form({ name }, corporate), bob.key)).body.id);
    expect(await idsOf(bob.key)).toEqual(made);

    const first = await app.request('GET', '/templates?limit=2', { as: bob.key });
    expect(first.body.map((one: { id: string }) => one.id)).toEqual(made.slice(0, 2));
    const [, next = ''] = /<\/api\/v1([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    const second = await app.request('GET', next, { as: bob.key });
    expect(second.body.map((one: { id: string }) => one.id)).toEqual(made.slice(2));
    expect(second.headers.get('link')).toBeNull();
    for (const row of [...first.body, ...second.body]) Template.parse(row);
  });

  test('refuses a cursor that is none', async () => {
    expect((await app.request('GET', '/templates?cursor=x', { as: ada.key })).status).toBe(400);
  });
});

describe('deleting', () => {
  const remove = (id: string, as = ada.key) => app.request('DELETE', `/templates/${id}`, { as });

  test('removes the template with its files', async () => {
    const { id } = (await upload(form({ name: 'T' }, corporate))).body;
    expect((await remove(id)).status).toBe(204);
    expect(await idsOf(ada.key)).not.toContain(id);
    expect(await filesOf(id)).toEqual([]);
    expect((await remove(id)).status).toBe(404);
  });

  test('is for its creator and admins: another member gets 403', async () => {
    const { id } = (await upload(form({ name: 'T' }, corporate))).body;
    const body = { name: 'Member', role: 'member' };
    const member = (await app.request('POST', '/api-keys', { as: ada.token, body })).body.key;
    await app.db
      .collection<{ _id: string }>('templates')
      .updateOne({ _id: id }, { $set: { created_by: newId() } });
    expect(await remove(id, member)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await remove(id)).status).toBe(204);
  });

  test('another organization gets the 404 of what is not there', async () => {
    const { id } = (await upload(form({ name: 'T' }, corporate))).body;
    const eve = await register(app);
    const bodies = [await remove(id, eve.key), await remove(newId(), eve.key), await remove('x', eve.key)];
    for (const { status, body } of bodies) expect([status, body.code]).toEqual([404, 'not_found']);
    expect(await idsOf(ada.key)).toContain(id);
  });
});

test('a template that cannot be examined with the memory of a thread is refused, and the next one is not', async () => {
  const small = await exportTestApp({ EXPORT_WORKER_MEMORY_MB: '32' });
  try {
    const heavy = new Uint8Array(
      attacks.find(({ name }) => name.startsWith('130,000 bookmarks'))?.make() ?? [],
    );
    const asked = (file: Uint8Array<ArrayBuffer>) =>
      small.app.request('POST', '/templates', { as: small.ada.key, body: form({ name: 'T' }, file) });
    const refused = await asked(heavy);
    expect(refused).toMatchObject({ status: 400, body: { code: 'template_invalid', reason: 'too_large' } });
    expect(refused.body.detail).toContain('32 MB');
    expect((await asked(corporate)).status).toBe(201);
  } finally {
    await small.app.stop();
  }
}, 60_000);
