/** Tests the comparison of versions over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../testing/services.ts';
import { Diff } from './contract.ts';
import { documents } from './service.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { findNode } from './testing/outline.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents]);
  lifecycle = lifecycleClient(context);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const content = (text: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
});
const step = (title: string, text: string) => ({ node_type: 'step', title, content: content(text) });
const tree = {
  title: 'SOP',
  version: '1',
  nodes: [
    { node_type: 'section', title: 'A', children: [step('A1', 'Turn to 2.'), step('A2', 'Wait.')] },
    { node_type: 'section', title: 'B' },
    { node_type: 'section', title: 'C' },
  ],
};

const get = (id: string, against?: string, headers = {}) =>
  context.request(ada, 'GET', `${id}/diff${against ? `?against=${against}` : ''}`, undefined, headers);
async function compare(id: string, against?: string): Promise<Diff> {
  const { status, body } = await get(id, against);
  expect([status, body.code]).toEqual([200, undefined]);
  return Diff.parse(body);
}

/** Publishes a revision with this version label, after `edit`. Returns its id. */
async function publishRevision(id: string, version: string, edit?: (draft: string) => Promise<unknown>) {
  const draft = await lifecycle.createRevision(ada, id);
  await edit?.(draft.id);
  await context.request(ada, 'PATCH', draft.id, { version });
  expect((await lifecycle.publish(ada, draft.id)).status).toBe(200);
  return draft.id;
}

describe('compareVersions', () => {
  test('shows what changed in a draft since the published version', async () => {
    const original = await lifecycle.createPublished(ada, tree);
    const draft = await lifecycle.createRevision(ada, original.id);
    expect(await compare(draft.id)).toMatchObject({ same: true, nodes: [], fields: [] });
    const find = (title: string) => findNode(draft.nodes, title).id;
    const send = (method: string, path: string, body?: unknown) =>
      context.request(ada, method, `${draft.id}${path}`, body);
    await send('PATCH', '', { version: '2', department: 'D' });
    await send('PATCH', `/nodes/${find('A1')}`, { title: 'A one', content: content('Turn to 3.') });
    await send('PATCH', `/nodes/${find('A2')}`, { parent_id: find('B') });
    await send('DELETE', `/nodes/${find('C')}`);
    await send('POST', '/nodes', { node_type: 'section', title: 'D', order: 9 });

    const diff = await compare(draft.id);
    expect(diff).toMatchObject({
      from: { id: original.id, status: 'published' },
      to: { id: draft.id, status: 'draft' },
      same: false,
      fields: [
        { field: 'version', from: '1', to: '2' },
        { field: 'department', from: null, to: 'D' },
      ],
      counts: { added: 1, removed: 1, changed: 1, moved: 1, unchanged: 2 },
    });
    const toOriginalId = (title: string) => findNode(original.nodes, title).id;
    expect(
      diff.nodes.map(({ change, moved, from, to }) => [change, moved, from?.number, to?.number]),
    ).toEqual([
      ['changed', false, '1.1', '1.1'],
      ['removed', false, '3', undefined],
      ['unchanged', true, '1.2', '2.1'],
      ['added', false, undefined, '3'],
    ]);
    expect(diff.nodes[0]).toEqual({
      change: 'changed',
      moved: false,
      lineage_id: toOriginalId('A1'),
      node_type: 'step',
      from: { id: toOriginalId('A1'), number: '1.1', title: 'A1' },
      to: { id: find('A1'), number: '1.1', title: 'A one' },
      text: [
        { op: 'equal', text: 'Turn to ' },
        { op: 'delete', text: '2' },
        { op: 'insert', text: '3' },
        { op: 'equal', text: '.' },
      ],
      format_changed: false,
    });
  });

  test('compares a published and an archived version with the one before', async () => {
    const { id: first } = await lifecycle.createPublished(ada, tree);
    const second = await publishRevision(first, '2');
    const third = await publishRevision(second, '3');
    const draft = await lifecycle.createRevision(ada, third);
    const getFrom = async (id: string) => (await compare(id)).from?.id;
    expect(await Promise.all([second, third, draft.id].map(getFrom))).toEqual([first, second, third]);
    await lifecycle.archive(ada, third);
    expect(await getFrom(third)).toBe(second);
    // nothing is published
    expect((await compare(draft.id)).from).toBeNull();
  });

  test('lists every node as added if there is no version before', async () => {
    for (const { id } of [await context.create(ada, tree), await lifecycle.createPublished(ada, tree)]) {
      const { from, same, fields, counts, nodes } = await compare(id);
      expect([from, same, counts]).toEqual([
        null,
        false,
        { added: 5, removed: 0, changed: 0, moved: 0, unchanged: 0 },
      ]);
      expect(fields).toContainEqual({ field: 'title', from: null, to: 'SOP' });
      expect(nodes.map(({ to }) => to?.number)).toEqual(['1', '1.1', '1.2', '2', '3']);
      expect(nodes[1]?.text).toEqual([{ op: 'insert', text: 'Turn to 2.' }]);
    }
  });

  test('compares any two versions in both directions', async () => {
    const { id: first } = await lifecycle.createPublished(ada, tree);
    const third = await publishRevision(await publishRevision(first, '2'), '3');
    const fields = (from: string, to: string) => [{ field: 'version', from, to }];
    expect((await compare(third, first)).fields).toEqual(fields('1', '3'));
    expect((await compare(first, third)).fields).toEqual(fields('3', '1'));
    expect(await compare(first, first)).toMatchObject({ same: true, from: { id: first }, to: { id: first } });
  });

  test('pairs the nodes of versions from before lineage ids by title', async () => {
    const { id: first } = await lifecycle.createPublished(ada, tree);
    const second = await publishRevision(first, '2');
    const rows = context.app.db.collection('nodes');
    await rows.updateMany({ document_id: { $in: [first, second] } }, { $unset: { lineage_id: 1 } });
    expect(await compare(second)).toMatchObject({ counts: { unchanged: 5 }, nodes: [] });
  });

  test.each([
    ['no UUID', () => 'x', 'invalid_request'],
    ['an unknown id', () => newId(), 'versions_unrelated'],
    ['another document', async () => (await context.create(ada)).id, 'versions_unrelated'],
    [
      'a document of another organization',
      async () => (await lifecycle.createPublished(await context.admin())).id,
      'versions_unrelated',
    ],
  ])('against %s fails', async (_, createId, code) => {
    const { id } = await lifecycle.createPublished(ada, tree);
    expect(outcome(await get(id, await createId()))).toEqual([400, code]);
  });

  test('fails for documents of other organizations and unknown ones', async () => {
    const { id } = await context.create(await context.admin());
    for (const unknown of [id, newId()])
      expect(outcome(await get(unknown, unknown))).toEqual([404, 'not_found']);
  });

  test('fails with more than 32 MiB of rich text in both versions', async () => {
    const { id: first } = await lifecycle.createPublished(ada, tree);
    const draft = await lifecycle.createRevision(ada, first);
    await context.set(first, { content_bytes: 16 * 2 ** 20 });
    await context.set(draft.id, { content_bytes: 16 * 2 ** 20 });
    expect((await get(draft.id)).status).toBe(200);
    await context.set(draft.id, { content_bytes: 16 * 2 ** 20 + 1 });
    const { status, body } = await get(draft.id);
    expect([status, body.code, body.limit_bytes]).toEqual([400, 'diff_too_large', 32 * 2 ** 20]);
  });
});

describe('the ETag of a diff', () => {
  test('stays until one of the versions changes', async () => {
    const { id: first } = await lifecycle.createPublished(ada, tree);
    const draft = await lifecycle.createRevision(ada, first);
    const etags: string[] = [];
    const read = async (against?: string) => {
      const { status, headers, body } = await get(draft.id, against);
      expect(status).toBe(200);
      const etag = String(headers.get('etag'));
      const repeated = await get(draft.id, against, { 'if-none-match': etag });
      expect([repeated.status, repeated.headers.get('etag')]).toEqual([304, etag]);
      expect((await get(draft.id, against)).body).toEqual(body);
      etags.push(etag);
    };
    await read();
    await context.request(ada, 'PATCH', draft.id, { title: 'Other' });
    await read();
    await context.request(ada, 'PATCH', first, { title: 'Other' });
    await read();
    await read(draft.id);
    await lifecycle.archive(ada, first);
    await read();
    expect(new Set(etags).size).toBe(5);
  });
});
