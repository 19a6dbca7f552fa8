/** Tests that a published version never keeps the content hash of other words, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { testApp, until } from '#libs/testing';
import { hashDocument } from '../../tests/content-hash/documents.ts';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { DocumentEdited, DocumentSummary, documentsContract } from './contract.ts';
import { documents } from './service.ts';
import { type EventRecorder, eventRecorder } from './testing/event-recorder.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContextFor } from './testing/test-context.ts';
import { contentWrites } from './testing/update-events.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let ada: TestMember;
/** The admin of an organization that locks its published documents. */
let locked: TestMember;
let recorder: EventRecorder;

beforeAll(async () => {
  recorder = eventRecorder(DocumentEdited);
  const services = [identity, documents, recorder.service];
  context = testContextFor(await testApp({ services, contracts: [...contracts, recorder.service.contract] }));
  lifecycle = lifecycleClient(context);
  [ada, locked] = await Promise.all([context.admin(), context.admin()]);
  const settings = { settings: { lock_published: true } };
  await context.app.request('PATCH', '/organization', { as: locked.as, body: settings });
});
afterAll(() => context?.app.stop());

interface Sample {
  id: string;
  organization_id: string;
  content_hash: string | null;
  nodes: { id: string; children: { id: string }[] }[];
}

const tree = {
  title: 'SOP',
  version: '1',
  nodes: [
    { node_type: 'section', title: 'A', children: [{ node_type: 'step', title: 'A1' }] },
    { node_type: 'section', title: 'B', content: { type: 'doc' } },
  ],
};
const publish = (member: TestMember): Promise<Sample> => lifecycle.createPublished(member, tree);
const node = { node_type: 'section', title: 'New', order: 9 };

type Request = (document: Sample) => [path: string, body?: unknown];

/** Edits of the fields or nodes of a document, by operation. */
const edits: Record<string, Record<string, Request>> = {
  updateDocument: {
    title: () => ['', { title: 'Other' }],
    version: () => ['', { version: null }],
    department: () => ['', { department: 'D' }],
    language: () => ['', { language: 'de' }],
    'the same title and another version': () => ['', { title: 'SOP', version: 'Other' }],
  },
  createNode: { 'a node': () => ['/nodes', node] },
  updateNode: {
    title: ({ nodes }) => [`/nodes/${nodes[0]?.id}`, { title: 'Other' }],
    content: ({ nodes }) => [`/nodes/${nodes[0]?.id}`, { content: { type: 'doc' } }],
    order: ({ nodes }) => [`/nodes/${nodes[0]?.id}`, { order: 7 }],
    parent: ({ nodes }) => [`/nodes/${nodes[0]?.children[0]?.id}`, { parent_id: nodes[1]?.id }],
  },
  deleteNode: { 'a node': ({ nodes }) => [`/nodes/${nodes[1]?.id}`] },
  reorderNodes: {
    siblings: ({ nodes }) => ['/nodes/reorder', { nodes: [{ node_id: nodes[0]?.id, order: 7 }] }],
  },
  replaceTree: {
    'other nodes': () => ['/nodes', { nodes: [node] }],
    'no nodes': () => ['/nodes', { nodes: [] }],
  },
};

/** All other writes below a document. They change no words of a published version, or are refused. */
const others: Record<string, Record<string, Request>> = {
  deleteDocument: { 'the document': () => [''] },
  duplicateDocument: { 'the document': () => ['/duplicate'] },
  publishDocument: { again: () => ['/publish'] },
  reviseDocument: { 'the document': () => ['/revise'] },
  restoreDocument: { 'the document': () => ['/restore'] },
  archiveDocument: { 'the document': () => ['/archive'] },
  assignEditor: { 'no editor': () => ['/editor', { editor_id: null }] },
  updateReview: { 'an interval': () => ['/review', { every_months: 12 }] },
  confirmReview: { 'the document': () => ['/review/confirm'] },
  updateApprovers: { 'no approvers': () => ['/approvers', { approver_ids: [] }] },
  triggerWebhooks: { publish: () => ['/trigger-webhooks', { event_type: 'document.published' }] },
};

const writes = documentsContract.operations.filter(
  ({ method, path }) => method !== 'get' && path.startsWith('/documents/{doc_id}'),
);
const listCases = (requests: typeof edits) =>
  writes.flatMap(({ id, method }) =>
    Object.entries(requests[id] ?? {}).map(([name, toRequest]): [string, string, string, Request] => [
      id,
      name,
      method.toUpperCase(),
      toRequest,
    ]),
  );

async function send(member: TestMember, document: Sample, method: string, toRequest: Request) {
  const [path, body] = toRequest(document);
  return context.request(member, method, `${document.id}${path}`, body);
}

/** The `document.edited` events of a document. */
const listEdited = (id: string) =>
  recorder.events.filter(
    ({ data }) => DocumentSummary.parse((data as { document: unknown }).document).id === id,
  );

test('every write below a document is either an edit or another write', () => {
  const known = [...Object.keys(edits), ...Object.keys(others)];
  expect(known.sort()).toEqual(writes.map(({ id }) => id).sort());
});

describe('an edit of a published version', () => {
  test.each(listCases(edits))('by %s of %s clears the hash', async (_id, _name, method, toRequest) => {
    const document = await publish(ada);
    const { status } = await send(ada, document, method, toRequest);
    expect(status).toBeLessThan(300);
    const { content_hash, status: after } = await lifecycle.get(ada, document.id);
    expect([after, content_hash]).toEqual(['published', null]);
    const [event, ...more] = await until('the event', async () => {
      const found = listEdited(document.id);
      return found.length > 0 && found;
    });
    expect(more).toEqual([]);
    expect(event).toMatchObject({ organization_id: document.organization_id, actor_id: ada.id });
    expect(event?.data).toMatchObject({ document: { id: document.id, content_hash: null } });
  });

  test.each(listCases(edits))('by %s of %s fails if it is locked', async (_id, _name, method, toRequest) => {
    const document = await publish(locked);
    expect(outcome(await send(locked, document, method, toRequest))).toEqual([400, 'document_locked']);
    expect(await lifecycle.get(locked, document.id)).toEqual(document);
  });

  test.each(listCases(edits))(
    'by %s of %s that fails keeps the hash',
    async (_id, _name, method, toRequest) => {
      const document = await publish(ada);
      const [path, body] = toRequest(document);
      const headers = { 'if-match': '"99"' };
      const response = await context.request(ada, method, `${document.id}${path}`, body, headers);
      expect(outcome(response)).toEqual([412, 'precondition_failed']);
      expect(await lifecycle.get(ada, document.id)).toEqual(document);
    },
  );
});

test.each(listCases(others))(
  '%s of %s keeps hash and words together',
  async (_id, _name, method, toRequest) => {
    for (const member of [ada, locked]) {
      const document = await publish(member);
      await send(member, document, method, toRequest);
      const after = await lifecycle.get(member, document.id);
      expect(after.content_hash).toBe(document.content_hash);
      expect(await hashDocument(after)).toBe(document.content_hash);
    }
  },
);

describe('document.edited', () => {
  test('is published once for many edits at the same time', async () => {
    const document = await publish(ada);
    const sent = Object.entries(contentWrites).map(async ([name, write]) => {
      const { status } = await write(context, ada, document);
      // if the tree is replaced first, a node to change is unknown: 404 in the path, 400 in the body
      expect(name === 'reorder of nodes' ? [204, 400] : [200, 201, 204, 404]).toContain(status);
    });
    const renames = Array.from({ length: 4 }, async (_, at) => {
      const { status } = await context.request(ada, 'PATCH', document.id, { title: `${at}` });
      expect(status).toBe(200);
    });
    await Promise.all([...sent, ...renames]);
    await until('the event', async () => listEdited(document.id).length > 0);
    // a document that is edited later gets its event later
    const last = await publish(ada);
    await context.request(ada, 'PATCH', last.id, { title: 'last' });
    await until('the last event', async () => listEdited(last.id).length > 0);
    expect(listEdited(document.id)).toHaveLength(1);
  });

  test('is published for the first edit of a version without a hash field', async () => {
    const document = await publish(ada);
    const rows = context.app.db.collection<{ _id: string }>('documents');
    await rows.updateOne({ _id: document.id }, { $unset: { content_hash: 1 } });
    for (const title of ['one', 'two']) await context.request(ada, 'PATCH', document.id, { title });
    await until('the event', async () => listEdited(document.id).length > 0);
    expect(await rows.findOne({ _id: document.id })).toMatchObject({ content_hash: null });
    expect(listEdited(document.id)).toMatchObject([{ data: { document: { title: 'one' } } }]);
  });

  test('is not published for drafts, archived versions and assignments', async () => {
    const [draft, archived, assigned] = [
      await context.create(ada, tree),
      await publish(ada),
      await publish(ada),
    ];
    await lifecycle.archive(ada, archived.id);
    for (const { id } of [draft, archived]) await context.request(ada, 'PATCH', id, { title: 'x' });
    await context.request(ada, 'PATCH', `${assigned.id}/editor`, { editor_id: ada.id });
    const last = await publish(ada);
    await context.request(ada, 'PATCH', last.id, { title: 'last' });
    await until('the last event', async () => listEdited(last.id).length > 0);
    for (const { id } of [draft, archived, assigned]) expect(listEdited(id)).toEqual([]);
  });
});

describe('the change summary of a draft', () => {
  const summary = { change_summary: 'Two steps are new.', minor_change: true };

  test('is set, cleared and fixed by publishing', async () => {
    const draft = await context.create(ada);
    expect(draft).toMatchObject({ change_summary: null, minor_change: false });
    const { status, body } = await context.request(ada, 'PATCH', draft.id, summary);
    expect([status, body]).toEqual([200, { ...draft, ...summary, updated_at: body.updated_at }]);
    const { body: cleared } = await context.request(ada, 'PATCH', draft.id, { change_summary: null });
    expect(cleared).toMatchObject({ change_summary: null, minor_change: true });
    await context.request(ada, 'PATCH', draft.id, summary);
    const { body: published } = await lifecycle.publish(ada, draft.id);
    expect(published).toMatchObject(summary);
    const [event] = await lifecycle.publishedEvents(draft.id);
    expect(event?.data.document).toMatchObject(summary);
    for (const body of [{ change_summary: null }, { minor_change: false }, { ...summary, title: 'T' }]) {
      const refused = await context.request(ada, 'PATCH', draft.id, body);
      expect(outcome(refused)).toEqual([400, 'document_not_draft']);
    }
    expect(await lifecycle.get(ada, draft.id)).toEqual(published);
    const revision = await lifecycle.createRevision(ada, draft.id);
    const { body: duplicate } = await context.request(ada, 'POST', `${draft.id}/duplicate`);
    for (const copy of [revision, duplicate])
      expect(copy).toMatchObject({ change_summary: null, minor_change: false });
  });

  test('does not change the content hash', async () => {
    const [one, two] = [await context.create(ada, tree), await context.create(ada, tree)];
    await context.request(ada, 'PATCH', two.id, summary);
    const [first, second] = [await lifecycle.publish(ada, one.id), await lifecycle.publish(ada, two.id)];
    expect(first.body.content_hash).toBe(second.body.content_hash);
  });

  test('fails with the reason that comes first for other states', async () => {
    const [published, archived] = [await publish(locked), await publish(locked)];
    await lifecycle.archive(locked, archived.id);
    const send = (id: string) => context.request(locked, 'PATCH', id, summary);
    expect(outcome(await send(published.id))).toEqual([400, 'document_not_draft']);
    expect(outcome(await send(archived.id))).toEqual([400, 'document_archived']);
    expect(outcome(await send(newId()))).toEqual([404, 'not_found']);
  });

  test.each<[string, object]>([
    ['2,001 characters', { change_summary: 'ä'.repeat(2_001) }],
    ['a number', { change_summary: 1 }],
    ['minor_change as text', { minor_change: 'true' }],
    ['minor_change as null', { minor_change: null }],
  ])('rejects %s', async (_, body) => {
    const draft = await context.create(ada);
    expect(outcome(await context.request(ada, 'PATCH', draft.id, body))).toEqual([400, 'invalid_request']);
  });

  test('accepts 2,000 characters', async () => {
    const change_summary = '🛠'.repeat(2_000);
    const draft = await context.create(ada);
    const { body } = await context.request(ada, 'PATCH', draft.id, { change_summary });
    expect(body.change_summary).toBe(change_summary);
  });
});
