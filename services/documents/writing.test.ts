/** Tests changes of document fields over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../testing/services.ts';
import { Document } from './contract.ts';
import { documents } from './service.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents]);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const patch = (id: string, body: unknown, member = ada, headers = {}) =>
  context.request(member, 'PATCH', id, body, headers);
const publish = (id: string, member = ada) => context.request(member, 'POST', `${id}/publish`);
const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

describe('updateDocument', () => {
  test('updateDocument changes the given fields and returns the document', async () => {
    const nodes = [{ node_type: 'section', title: 'S' }];
    const document = await context.create(ada, { title: 'Old', version: '1', department: 'Ops', nodes });
    const first = await patch(document.id, { title: ' New ', version: null });
    expect(first.status).toBe(200);
    expect(Document.parse(first.body)).toEqual({
      ...document,
      title: 'New',
      version: null,
      updated_at: first.body.updated_at,
    });
    expect(first.body.updated_at > document.updated_at).toBe(true);
    const second = await patch(document.id, { department: 'IT', language: 'DE-at' });
    expect(second.body).toMatchObject({ title: 'New', version: null, department: 'IT', language: 'de-AT' });
    expect([first, second].map(({ headers }) => headers.get('etag'))).toEqual(['"2"', '"3"']);
    const read = await context.request(ada, 'GET', document.id);
    expect([read.body, read.headers.get('etag')]).toEqual([second.body, '"3"']);
  });

  test.each(['draft', 'published'])(
    'updateDocument with equal values changes nothing in a %s',
    async (status) => {
      const fields = { title: 'Same', version: '1', department: 'Ops', language: 'de-AT' };
      const nodes = [{ node_type: 'section', title: 'S' }];
      const { id } = await context.create(ada, { ...fields, nodes });
      if (status === 'published') await publish(id);
      const before = await context.request(ada, 'GET', id);
      const events = () => context.app.db.collection('documents_outbox').countDocuments();
      const count = await events();
      for (const body of [fields, { title: ' Same ' }, { language: 'DE-at', version: '1' }]) {
        const { status, body: document, headers } = await patch(id, body);
        expect([status, document, headers.get('etag')]).toEqual([
          200,
          before.body,
          before.headers.get('etag'),
        ]);
      }
      expect(await events()).toBe(count);
      const { headers } = await patch(id, { ...fields, department: null });
      expect(headers.get('etag')).not.toBe(before.headers.get('etag'));
    },
  );

  test('updateDocument with equal values still checks the state and the caller', async () => {
    const { id } = await context.create(ada, { title: 'Same' });
    await publish(id);
    expect(outcome(await patch(id, { title: 'Same', minor_change: false }))).toEqual([
      400,
      'document_not_draft',
    ]);
    await context.request(ada, 'POST', `${id}/archive`);
    expect(outcome(await patch(id, { title: 'Same' }))).toEqual([400, 'document_archived']);
  });

  test('updateDocument reports all invalid fields', async () => {
    const { id } = await context.create(ada);
    const { status, body } = await patch(id, {
      title: ' ',
      version: 'x'.repeat(65),
      department: 7,
      language: 'en_US',
      status: 'published',
    });
    expect(status).toBe(400);
    expect(body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      'body/department',
      'body/language',
      'body/status',
      'body/title',
      'body/version',
    ]);
    for (const nonsense of [{}, { title: null }, [], 7, { title: 'x'.repeat(301) }])
      expect(outcome(await patch(id, nonsense))).toEqual([400, 'invalid_request']);
    expect((await context.request(ada, 'GET', id)).headers.get('etag')).toBe('"1"');
  });

  test('updateDocument clears the language, and older rows have none', async () => {
    const { id } = await context.create(ada, { title: 'T', language: 'fr' });
    expect((await context.request(ada, 'GET', id)).body.language).toBe('fr');
    expect((await patch(id, { language: null })).body.language).toBeNull();
    await context.app.db
      .collection<{ _id: string }>('documents')
      .updateOne({ _id: id }, { $unset: { language: 1 } });
    const { body } = await patch(id, { title: 'New' });
    expect(Document.parse(body)).toMatchObject({ title: 'New', language: null });
    expect((await context.request(ada, 'POST', `${id}/duplicate`)).body.language).toBeNull();
  });

  test('updateDocument allows owner, editor and admin', async () => {
    const [owner, editor, bystander, stranger] = [
      await context.member(ada),
      await context.member(ada),
      await context.member(ada),
      await context.admin(),
    ];
    const { id } = await context.create(owner);
    await context.set(id, { editor_id: editor.id });
    for (const member of [owner, editor, ada])
      expect((await patch(id, { title: `By ${member.id}` }, member)).status).toBe(200);
    expect(outcome(await patch(id, { title: 'x' }, bystander))).toEqual([403, 'forbidden']);
    expect(outcome(await patch(id, { title: 'x' }, stranger))).toEqual([404, 'not_found']);
    expect(outcome(await patch(newId(), { title: 'x' }))).toEqual([404, 'not_found']);
    expect((await context.request(ada, 'GET', id)).body.title).toBe(`By ${ada.id}`);
  });

  test('updateDocument with If-Match succeeds once per ETag', async () => {
    const { id } = await context.create(ada);
    expect((await patch(id, { title: 'A' }, ada, { 'if-match': '"0", "1"' })).status).toBe(200);
    const late = await patch(id, { title: 'B' }, ada, { 'if-match': '"1"' });
    expect(outcome(late)).toEqual([412, 'precondition_failed']);
    expect((await patch(id, { title: 'C' }, ada, { 'if-match': '*' })).body.title).toBe('C');
    await context.set(id, { status: 'archived' });
    // permission is checked first, then If-Match, then the status
    expect(outcome(await patch(id, { title: 'D' }, ada, { 'if-match': '"1"' }))[0]).toBe(412);
    expect(
      outcome(await patch(id, { title: 'D' }, await context.member(ada), { 'if-match': '"1"' }))[0],
    ).toBe(403);
  });

  test('concurrent updates with one ETag succeed once, without it all succeed', async () => {
    const { id } = await context.create(ada);
    const conditional = await Promise.all(
      Array.from({ length: 8 }, (_, at) => patch(id, { title: `${at}` }, ada, { 'if-match': '"1"' })),
    );
    expect(conditional.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)]);
    const fields = ['title', 'version', 'department'];
    const responses = await Promise.all(
      Array.from({ length: 24 }, (_, at) => patch(id, { [fields[at % 3] ?? '']: `${at + 10}` })),
    );
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    const { body, headers } = await context.request(ada, 'GET', id);
    expect(headers.get('etag')).toBe('"26"');
    for (const field of fields) expect(Number(body[field])).toBeGreaterThanOrEqual(0);
  });

  test('concurrent updates, node writes and a publish lose no change', async () => {
    const { id } = await context.create(ada);
    const node = { node_type: 'section', title: 'S', order: 0 };
    const responses = await Promise.all([
      ...Array.from({ length: 10 }, (_, at) => patch(id, { version: `${at}` })),
      ...Array.from({ length: 10 }, () => context.request(ada, 'POST', `${id}/nodes`, node)),
      publish(id),
    ]);
    expect(responses.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
    const { body, headers } = await context.request(ada, 'GET', id);
    expect([body.status, body.nodes.length, headers.get('etag')]).toEqual(['published', 10, '"22"']);
  });
});

describe('status of the document', () => {
  test('updateDocument accepts published documents and rejects archived ones', async () => {
    const { id } = await context.create(ada);
    await publish(id);
    expect((await patch(id, { title: 'Corrected' })).body).toMatchObject({
      title: 'Corrected',
      status: 'published',
    });
    await context.set(id, { status: 'archived' });
    expect(outcome(await patch(id, { title: 'Too late' }))).toEqual([400, 'document_archived']);
  });

  test('lock_published makes published documents read-only, and no others', async () => {
    const bo = await context.admin();
    const [published, draft] = [await context.create(bo), await context.create(bo)];
    const other = await context.create(ada);
    await publish(published.id, bo);
    await publish(other.id);
    const lock = (lock_published: boolean) =>
      context.app.request('PATCH', '/organization', { as: bo.as, body: { settings: { lock_published } } });
    expect((await lock(true)).status).toBe(200);
    expect(outcome(await patch(published.id, { title: 'x' }, bo))).toEqual([400, 'document_locked']);
    const node = { node_type: 'section', title: 'S', order: 0 };
    expect(outcome(await context.request(bo, 'POST', `${published.id}/nodes`, node))).toEqual([
      400,
      'document_locked',
    ]);
    expect((await patch(draft.id, { title: 'x' }, bo)).status).toBe(200);
    expect((await patch(other.id, { title: 'x' })).status).toBe(200);
    await lock(false);
    expect((await patch(published.id, { title: 'x' }, bo)).status).toBe(200);
  });

  test('a revision draft rejects the version of its original', async () => {
    const original = await context.create(ada, { title: 'T', version: '1' });
    await publish(original.id);
    const revision = await context.create(ada, { title: 'T', version: '1' });
    await context.set(revision.id, { parent_doc_id: original.id });
    expect(outcome(await patch(revision.id, { version: '1', title: 'x' }))).toEqual([
      400,
      'version_unchanged',
    ]);
    expect((await context.request(ada, 'GET', revision.id)).body.title).toBe('T');
    expect((await patch(revision.id, { title: 'Without a word on the version' })).status).toBe(200);
    expect((await patch(revision.id, { version: null })).status).toBe(200);
    expect((await patch(revision.id, { version: '1.1' })).status).toBe(200);
    await context.set(original.id, { version: null });
    expect((await patch(revision.id, { version: null })).status).toBe(200);
    await context.set(original.id, { version: '2' });
    await publish(revision.id);
    // the rule applies only to drafts
    expect((await patch(revision.id, { version: '2' })).status).toBe(200);
  });
});
