/** Tests the restoration of archived versions over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../testing/services.ts';
import type { Node } from './contract.ts';
import { documents } from './service.ts';
import { outcome } from './testing/lifecycle.ts';
import { type LifecycleFixture, lifecycleFixture } from './testing/lifecycle-fixture.ts';
import { toOutline } from './testing/outline.ts';
import type { TestMember } from './testing/test-context.ts';

let { context, lifecycle, ada, owner, editor, bystander, stranger } = {} as LifecycleFixture;

beforeAll(async () => {
  ({ context, lifecycle, ada, owner, editor, bystander, stranger } = await lifecycleFixture([
    identity,
    documents,
  ]));
});
afterAll(() => context?.app.stop());

const content = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Wait.' }] }] };
const first = {
  ...{ title: 'First', version: '1', department: 'Stores', language: 'en' },
  nodes: [
    { node_type: 'section', title: 'A', children: [{ node_type: 'step', title: 'A1', content }] },
    { node_type: 'section', title: 'B' },
  ],
};
const second = { title: 'Second', version: '2', department: null, language: 'de' };

const restore = (member: TestMember, id: string, headers = {}) =>
  context.request(member, 'POST', `${id}/restore`, undefined, headers);

/** The owner publishes a version, and another one with other fields and without nodes. */
async function createVersions() {
  const archived = await lifecycle.createPublished(owner, first);
  const draft = await lifecycle.createRevision(owner, archived.id);
  await context.request(owner, 'PATCH', draft.id, { ...second, change_summary: 'All is new.' });
  await context.request(owner, 'PATCH', `${draft.id}/editor`, { editor_id: editor.id });
  await context.request(owner, 'PUT', `${draft.id}/nodes`, { nodes: [] });
  const { body: published } = await lifecycle.publish(owner, draft.id);
  return { archived: await lifecycle.get(owner, archived.id), published };
}

function listLineage(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ lineage_id, children }) => [lineage_id, ...listLineage(children)]);
}

describe('restoreDocument', () => {
  test('creates a revision with the title and tree of the archived version', async () => {
    const { archived, published } = await createVersions();
    const { status, body, headers } = await restore(owner, archived.id);
    expect([status, headers.get('etag'), headers.get('location')]).toEqual([
      201,
      '"1"',
      `/api/v1/documents/${body.id}`,
    ]);
    const { created_at, nodes } = body;
    expect(body).toEqual({
      ...published,
      id: body.id,
      parent_doc_id: published.id,
      ...{ title: 'First', department: 'Stores', version: '2', language: 'de', editor_id: editor.id },
      ...{ status: 'draft', published_at: null, content_hash: null, change_summary: null },
      ...{ created_at, updated_at: created_at, nodes },
    });
    expect(toOutline(nodes)).toEqual(toOutline(archived.nodes));
    expect(nodes[0].children[0].content).toEqual(content);
    expect(listLineage(nodes)).toEqual(listLineage(archived.nodes));
    expect(nodes[0].id).not.toBe(archived.nodes[0].id);
    expect(await lifecycle.get(owner, body.id)).toEqual(body);
    for (const version of [archived, published])
      expect(await lifecycle.get(owner, version.id)).toEqual(version);
  });

  test('creates a draft with which the document is published again', async () => {
    const { archived, published } = await createVersions();
    const { body } = await restore(owner, archived.id);
    await context.request(owner, 'PATCH', body.id, { version: '3' });
    expect((await lifecycle.publish(owner, body.id)).status).toBe(200);
    expect((await lifecycle.get(owner, published.id)).status).toBe('archived');
    expect(await lifecycle.history(owner, body.id)).toEqual([archived.id, published.id, body.id]);
    const { body: diff } = await context.request(owner, 'GET', `${body.id}/diff?against=${archived.id}`);
    expect(diff).toMatchObject({ nodes: [], fields: [{ field: 'version', from: '1', to: '3' }] });
  });

  test('creates a revision of the archived version if none is published', async () => {
    const { archived, published } = await createVersions();
    await lifecycle.archive(owner, published.id);
    const { status, body } = await restore(owner, archived.id);
    expect(status).toBe(201);
    expect(body).toMatchObject({ parent_doc_id: archived.id, title: 'First', version: '1', editor_id: null });
    expect((await lifecycle.publish(owner, body.id)).status).toBe(200);
  });

  test('requires a new version label as a revision does', async () => {
    const { archived } = await createVersions();
    const { body } = await restore(owner, archived.id);
    const repeated = await context.request(owner, 'PATCH', body.id, { version: '2' });
    expect(outcome(repeated)).toEqual([400, 'version_unchanged']);
  });

  test('is for the owner and admins', async () => {
    const { archived } = await createVersions();
    const outcomes = await Promise.all(
      [owner, ada, editor, bystander, stranger].map(async (member) =>
        outcome(await restore(member, archived.id)),
      ),
    );
    expect(outcomes).toEqual([
      [201, undefined],
      [201, undefined],
      [403, 'forbidden'],
      [403, 'forbidden'],
      [404, 'not_found'],
    ]);
  });

  test('fails for drafts, published and unknown documents', async () => {
    const { published } = await createVersions();
    const draft = await lifecycle.createRevision(owner, published.id);
    for (const { id } of [published, draft])
      expect(outcome(await restore(owner, id))).toEqual([400, 'document_not_archived']);
    expect(outcome(await restore(owner, newId()))).toEqual([404, 'not_found']);
  });

  test('checks If-Match, and stores nothing if it fails', async () => {
    const { archived } = await createVersions();
    expect(outcome(await restore(owner, archived.id, { 'if-match': '"99"' }))).toEqual([
      412,
      'precondition_failed',
    ]);
    const { body } = await context.app.request('GET', `/documents?parent_doc_id=${archived.id}`, owner);
    expect(body).toHaveLength(1);
  });

  test('creates one draft for a repeated idempotency key', async () => {
    const { archived, published } = await createVersions();
    const headers = { 'idempotency-key': newId() };
    const [one, other] = [
      await restore(owner, archived.id, headers),
      await restore(owner, archived.id, headers),
    ];
    expect(other.body).toEqual(one.body);
    const { body } = await context.app.request('GET', `/documents?parent_doc_id=${published.id}`, owner);
    expect(body).toHaveLength(1);
  });
});
