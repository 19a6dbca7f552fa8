/** Tests that no write changes a draft in approval. The writes are those of the contract, over HTTP with MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnyOperation } from '#libs/contract';
import { hashDocument } from '../../tests/content-hash/documents.ts';
import { services } from '../testing/services.ts';
import { documentsContract } from './contract.ts';
import { type ApprovalClient, approvalClient } from './testing/approvals.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let approval: ApprovalClient;
let admin: TestMember;
let approver: TestMember;

beforeAll(async () => {
  context = await testContext(services);
  lifecycle = lifecycleClient(context);
  approval = approvalClient(context);
  admin = await context.admin();
  approver = await context.member(admin);
});
afterAll(() => context?.app.stop());

interface Sample {
  id: string;
  approval_id: string;
  content_hash: string;
  nodes: { id: string; children: { id: string }[] }[];
}

const node = { node_type: 'section', title: 'New', order: 9 };

/** The bodies of each write that must be refused. An operation without a body has one case. */
const refused: Record<string, readonly ((document: Sample) => object | undefined)[]> = {
  updateDocument: [
    ...[{ title: 'Other' }, { version: null }, { department: 'D' }, { language: 'de' }],
    ...[{ change_summary: 'S' }, { minor_change: true }, { title: 'SOP' }],
  ].map((body) => () => body),
  deleteDocument: [() => undefined],
  createNode: [() => node],
  updateNode: [
    () => ({ title: 'Other' }),
    () => ({ content: { type: 'doc' } }),
    () => ({ order: 7 }),
    ({ nodes }) => ({ parent_id: nodes[1]?.id }),
  ],
  deleteNode: [() => undefined],
  reorderNodes: [({ nodes }) => ({ nodes: [{ node_id: nodes[0]?.id, order: 7 }] }), () => ({ nodes: [] })],
  replaceTree: [() => ({ nodes: [node] }), () => ({ nodes: [] })],
};

/** All other writes: they change neither fields nor nodes of the draft, or fail for its status. */
const others: Record<string, (document: Sample) => object | undefined> = {
  createDocument: () => ({ title: 'Another' }),
  duplicateDocument: () => undefined,
  publishDocument: () => undefined,
  reviseDocument: () => undefined,
  restoreDocument: () => undefined,
  archiveDocument: () => undefined,
  assignEditor: () => ({ editor_id: approver.id }),
  triggerWebhooks: () => ({ event_type: 'document.published' }),
  updateApprovers: () => ({ approver_ids: [approver.id] }),
  requestApproval: ({ id }) => ({ document_id: id, approver_ids: [approver.id] }),
  decideApproval: ({ content_hash }) => ({ decision: 'approve', content_hash }),
  withdrawApproval: () => undefined,
  updateReview: () => ({ every_months: 12 }),
  confirmReview: () => ({}),
};

const writes: readonly AnyOperation[] = documentsContract.operations.filter(
  // pictures and imports name no document
  ({ method, path }) => method !== 'get' && !/^\/(assets|imports)/.test(path),
);
const getWrite = (id: string) => {
  const found = writes.find((one) => one.id === id);
  if (!found) throw new Error(`There is no write ${id}`);
  return found;
};

/** Creates a draft of the admin that is in approval. */
async function createFrozen(status: 'pending' | 'approved'): Promise<Sample> {
  const step = { node_type: 'step', title: 'A1' };
  const nodes = [
    { node_type: 'section', title: 'A', children: [step] },
    { node_type: 'section', title: 'B' },
  ];
  const { id } = await context.create(admin, { title: 'SOP', version: '1', nodes });
  const request = await approval.createRequest(admin, id, [approver]);
  if (status === 'approved') await approval.approve(approver, request);
  return { ...(await lifecycle.get(admin, id)), approval_id: request.id };
}

function send(operationId: string, sample: Sample, body: object | undefined) {
  const { method, path } = getWrite(operationId);
  const ids: Record<string, string | undefined> = {
    doc_id: sample.id,
    node_id: (body && 'parent_id' in body ? sample.nodes[0]?.children[0] : sample.nodes[0])?.id,
    approval_id: sample.approval_id,
  };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
  const as = operationId === 'decideApproval' ? approver.as : admin.as;
  return context.app.request(method.toUpperCase(), filled, { as, ...(body && { body }) });
}

test('every write is either refused or another write', () => {
  const known = [...Object.keys(refused), ...Object.keys(others)];
  expect(known.sort()).toEqual(writes.map(({ id }) => id).sort());
});

describe.each(['pending', 'approved'] as const)('a draft whose approval is %s', (status) => {
  const cases = Object.entries(refused).flatMap(([id, bodies]) =>
    bodies.map((toBody, at) => [id, at, toBody] as const),
  );
  test.each(cases)('refuses %s %d', async (id, _, toBody) => {
    const sample = await createFrozen(status);
    const { approval_id: _id, ...document } = sample;
    expect(outcome(await send(id, sample, toBody(sample)))).toEqual([400, 'document_in_approval']);
    expect(await lifecycle.get(admin, sample.id)).toEqual(document);
  });

  test.each(Object.entries(others))('keeps its words after %s', async (id, toBody) => {
    const sample = await createFrozen(status);
    await send(id, sample, toBody(sample));
    const after = await lifecycle.get(admin, sample.id);
    expect(await hashDocument(after)).toBe(sample.content_hash);
    // withdrawn, or as it was submitted
    expect([null, sample.content_hash]).toContain(after.content_hash);
    expect(after.content_hash === null).toBe(after.approval === null);
  });

  test('gets an editor, and loses one who leaves', async () => {
    const sample = await createFrozen(status);
    const assigned = await send('assignEditor', sample, { editor_id: approver.id });
    expect([assigned.status, assigned.body.editor_id]).toEqual([200, approver.id]);
    expect((await lifecycle.get(admin, sample.id)).approval.status).toBe(status);
  });
});
