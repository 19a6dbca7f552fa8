/** Tests requests about approval that race each other at two replicas, 200 times each: they act as if in some order. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeOutcome, runRounds, sendBoth, type TestResponse } from '#libs/testing';
import { hashDocument } from '../../tests/content-hash/documents.ts';
import { findBrokenInvariants } from '../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../tools/admin/verify/invariants.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { type ApprovalClient, approvalClient } from './testing/approvals.ts';
import { type LifecycleClient, lifecycleClient } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext, testContextFor } from './testing/test-context.ts';

/** Time for rounds of many requests on a busy machine, in milliseconds. */
const timeoutMs = 600_000;

/** A replica with its clients. */
interface Replica extends ApprovalClient {
  context: TestContext;
  lifecycle: LifecycleClient;
}

let replicas: [Replica, Replica];
let ada: TestMember;
let owner: TestMember;
let editor: TestMember;
let second: TestMember;

const toReplica = (context: TestContext): Replica => ({
  ...approvalClient(context),
  context,
  lifecycle: lifecycleClient(context),
});

beforeAll(async () => {
  const context = await testContext([identity, documents]);
  const other = testContextFor({ ...context.app, ...(await context.app.replica()) });
  replicas = [toReplica(context), toReplica(other)];
  ada = await context.admin();
  [owner, editor, second] = await Promise.all([
    context.member(ada),
    context.member(ada),
    context.member(ada),
  ]);
});
afterAll(() => replicas?.[0].context.app.stop());

/** What a race needs. */
interface Sample {
  id: string;
  /** The request for approval, if the draft was submitted. */
  request: { id: string; content_hash: string };
}

/** A race of two requests. */
interface Race {
  /** Who approves the draft of the race before it starts. Without it, the draft is not submitted. */
  submitted?: { approvers: readonly ('editor' | 'second')[]; approved?: readonly ('editor' | 'second')[] };
  first(replica: Replica, sample: Sample): Promise<TestResponse>;
  other(replica: Replica, sample: Sample): Promise<TestResponse>;
  /** The responses in both orders, as `status code`. */
  outcomes: readonly string[];
  /** Checks the state after the race. */
  check?(sample: Sample, outcome: string): Promise<void>;
}

const edit = ({ context }: Replica, { id }: Sample, by = owner) =>
  context.request(by, 'PATCH', id, { title: 'Edited' });
const addNode = ({ context }: Replica, { id }: Sample, by = owner) =>
  context.request(by, 'POST', `${id}/nodes`, { node_type: 'section', title: 'B', order: 1 });
const submit = (replica: Replica, { id }: Sample, approver = second) => replica.submit(owner, id, [approver]);
const withdraw = (replica: Replica, { request }: Sample) => replica.withdraw(owner, request.id);
const publish = ({ lifecycle }: Replica, { id }: Sample) => lifecycle.publish(owner, id);
const remove = ({ lifecycle }: Replica, { id }: Sample) => lifecycle.remove(owner, id);
const getDocument = ({ id }: Sample) => replicas[0].lifecycle.get(owner, id);
const getStatus = async ({ request }: Sample) => (await replicas[0].get(owner, request.id)).body.status;
/** The hash is that of the words while the draft is in approval, and else null. */
const checkHash = async (sample: Sample) => {
  const document = await getDocument(sample);
  const isFrozen = document.approval !== null;
  expect(document.content_hash).toBe(isFrozen ? await hashDocument(document) : null);
};
const countEvents = async ({ id }: Sample, type: string) => {
  const events = await replicas[0].lifecycle.publishedEvents(id);
  return events.filter((event) => event.type === type).length;
};
const one = { approvers: ['second'] } as const;
const approved = { approvers: ['second'], approved: ['second'] } as const;
const two = { approvers: ['editor', 'second'] } as const;

const races: Record<string, Race> = {
  'an edit by an approver and a submit': {
    first: (replica, sample) => edit(replica, sample, editor),
    other: (replica, sample) => submit(replica, sample, editor),
    outcomes: ['200, 400 approver_not_eligible', '400 document_in_approval, 201'],
    check: checkHash,
  },
  'a new node of an approver and a submit': {
    first: (replica, sample) => addNode(replica, sample, editor),
    other: (replica, sample) => submit(replica, sample, editor),
    outcomes: ['201, 400 approver_not_eligible', '400 document_in_approval, 201'],
    check: checkHash,
  },
  'an edit and a submit': {
    first: edit,
    other: submit,
    outcomes: ['200, 201', '400 document_in_approval, 201'],
    check: checkHash,
  },
  'two submits': {
    first: submit,
    other: submit,
    outcomes: ['201, 400 document_in_approval', '400 document_in_approval, 201'],
    check: checkHash,
  },
  'a delete and a submit': {
    first: remove,
    other: submit,
    outcomes: ['204, 400 invalid_request', '400 document_in_approval, 201'],
  },
  'a publish and a submit': {
    first: publish,
    other: submit,
    outcomes: ['200, 400 document_not_draft', '400 approval_missing, 201'],
  },
  'an edit and a withdraw': {
    submitted: one,
    first: edit,
    other: withdraw,
    outcomes: ['200, 200', '400 document_in_approval, 200'],
    check: checkHash,
  },
  'a delete and a withdraw': {
    submitted: one,
    first: remove,
    other: withdraw,
    outcomes: ['204, 200', '400 document_in_approval, 200'],
    check: async (sample) => expect(await getStatus(sample)).toBe('withdrawn'),
  },
  'a publish and a withdraw': {
    submitted: approved,
    first: publish,
    other: withdraw,
    outcomes: ['200, 200', '200, 400 approval_closed'],
    async check(sample, outcome) {
      const isApproved = outcome.endsWith('approval_closed');
      expect(await getStatus(sample)).toBe(isApproved ? 'approved' : 'withdrawn');
      expect((await getDocument(sample)).approval?.status).toBe(isApproved ? 'approved' : undefined);
    },
  },
  'a publish and a new approver': {
    submitted: approved,
    first: publish,
    other: (replica, { id }) => replica.setApprovers(ada, id, [second, editor]),
    outcomes: ['200, 200', '400 approval_missing, 200'],
    check: async (sample) => expect((await getDocument(sample)).approver_ids).toEqual([second.id, editor.id]),
  },
  'two last decisions': {
    submitted: two,
    first: (replica, { request }) => replica.approve(editor, request),
    other: (replica, { request }) => replica.approve(second, request),
    outcomes: ['200, 200'],
    async check(sample) {
      expect(await getStatus(sample)).toBe('approved');
      expect((await getDocument(sample)).approval.status).toBe('approved');
      expect(await countEvents(sample, 'approval.approved')).toBe(1);
    },
  },
  'the same decision twice': {
    submitted: two,
    first: (replica, { request }) => replica.approve(editor, request),
    other: (replica, { request }) => replica.approve(editor, request),
    outcomes: ['200, 400 already_decided', '400 already_decided, 200'],
    check: async (sample) => expect(await getStatus(sample)).toBe('pending'),
  },
  'an approval and a rejection': {
    submitted: { approvers: ['editor', 'second'] },
    first: (replica, { request }) => replica.approve(editor, request),
    other: (replica, { request }) => replica.reject(second, request),
    outcomes: ['200, 200', '400 approval_closed, 200'],
    async check(sample) {
      expect(await getStatus(sample)).toBe('rejected');
      expect((await getDocument(sample)).approval).toBeNull();
      expect(await countEvents(sample, 'approval.rejected')).toBe(1);
    },
  },
  'a last decision and a withdraw': {
    submitted: one,
    first: (replica, { request }) => replica.approve(second, request),
    other: withdraw,
    outcomes: ['200, 200', '400 approval_closed, 200'],
    async check(sample, outcome) {
      expect(await getStatus(sample)).toBe('withdrawn');
      expect(await countEvents(sample, 'approval.approved')).toBe(outcome.startsWith('200') ? 1 : 0);
      await checkHash(sample);
    },
  },
};

const tree = { title: 'SOP', nodes: [{ node_type: 'section', title: 'A' }] };

async function prepare({ submitted }: Race): Promise<Sample> {
  const [{ context, lifecycle: _, ...approval }] = replicas;
  const { id } = await context.create(owner, tree);
  await context.request(owner, 'PATCH', `${id}/editor`, { editor_id: editor.id });
  if (!submitted) return { id, request: { id: '', content_hash: '' } };
  const people = { editor, second };
  const request = await approval.createRequest(
    owner,
    id,
    submitted.approvers.map((name) => people[name]),
  );
  for (const name of submitted.approved ?? []) await approval.approve(people[name], request);
  return { id, request };
}

test.each(Object.entries(races))(
  '%s: as if in some order',
  async (_, race) => {
    const results = await runRounds(async (round) => {
      const sample = await prepare(race);
      const [one, other] = round % 2 === 0 ? replicas : ([replicas[1], replicas[0]] as const);
      const first = () => race.first(one, sample);
      const second = () => race.other(other, sample);
      const outcome = (await sendBoth(round, first, second)).map(describeOutcome).join(', ');
      expect(race.outcomes).toContain(outcome);
      await race.check?.(sample, outcome);
      return outcome;
    });
    expect([...results.keys()].sort()).toEqual([...race.outcomes].sort());
  },
  timeoutMs,
);

test(
  'a revision and new approvers: the revision has the new approvers',
  async () => {
    await runRounds(async (round) => {
      const { id } = await replicas[0].lifecycle.createPublished(owner, tree);
      const [one, other] = round % 2 === 0 ? replicas : ([replicas[1], replicas[0]] as const);
      const [revised, changed] = await Promise.all([
        one.lifecycle.revise(owner, id),
        other.setApprovers(ada, id, [second]),
      ]);
      expect([revised.status, changed.status]).toEqual([201, 200]);
      const { approver_ids } = await replicas[0].lifecycle.get(owner, revised.body.id);
      expect(approver_ids).toEqual([second.id]);
      return '';
    });
  },
  timeoutMs,
);

test('after all races, the database breaks no invariant', async () => {
  const { db } = replicas[0].context.app;
  const chosen = invariants.filter(({ name }) => /^(documents|approvals)\./.test(name));
  const broken = [];
  for await (const found of findBrokenInvariants(db, chosen, { now: new Date(), graceMs: 3_600_000 }))
    broken.push(found.invariant.name);
  expect(chosen.length).toBeGreaterThan(10);
  expect(broken).toEqual([]);
});
