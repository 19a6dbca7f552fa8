/** Tests the rules of approval. */
import { describe, expect, test } from '@jest/globals';
import {
  type Approver,
  addContributor,
  findIneligible,
  getApprovalStatus,
  isFrozen,
  isReasonMissing,
  listContributors,
  mayPublish,
} from './approval.ts';

const decide = (member_id: string, decision: Approver['decision']): Approver => ({
  ...{ member_id, decision, name: null, comment: null, decided_at: null },
});
const approved = { id: 'r', status: 'approved' as const, approved_at: new Date(0) };
const draft = { status: 'draft' as const, created_by: 'owner', editor_id: null, contributor_ids: ['owner'] };

describe('a publish', () => {
  test.each<[string, string[], Approver[] | undefined, boolean, boolean]>([
    ['without approvers passes', [], undefined, false, true],
    ['with approvers needs a request', ['a'], undefined, false, false],
    ['in an organization that requires approval needs a request', [], undefined, true, false],
    ['with a request of all approvers passes', ['a'], [decide('a', 'approve')], true, true],
    [
      'with a request of more approvers passes',
      ['a'],
      [decide('b', 'approve'), decide('a', 'approve')],
      false,
      true,
    ],
    ['with a request without an approver fails', ['a', 'b'], [decide('a', 'approve')], false, false],
    ['needs the approval of each approver', ['a'], [decide('a', null)], false, false],
  ])('%s', (_, approver_ids, approvers, isRequired, expected) => {
    const approval = approvers ? approved : null;
    expect(mayPublish({ approver_ids, approval }, approvers, isRequired)).toBe(expected);
  });

  test('fails while a request is pending', () => {
    const approval = { ...approved, status: 'pending' as const };
    expect(mayPublish({ approval }, undefined, false)).toBe(false);
  });
});

test('only a draft with a request is frozen', () => {
  expect(isFrozen({ status: 'draft', approval: approved })).toBe(true);
  expect(isFrozen({ status: 'draft', approval: null })).toBe(false);
  expect(isFrozen({ status: 'draft' })).toBe(false);
  expect(isFrozen({ status: 'published', approval: approved })).toBe(false);
});

test('a request is approved by all approvers and rejected by one', () => {
  const [yes, no, open] = [decide('a', 'approve'), decide('b', 'reject'), decide('c', null)];
  expect(getApprovalStatus([yes])).toBe('approved');
  expect(getApprovalStatus([yes, open])).toBe('pending');
  expect(getApprovalStatus([yes, open, no])).toBe('rejected');
});

test.each([
  ['approve', undefined, false],
  ['reject', 'Wrong order.', false],
  ['reject', ' \n', true],
  ['reject', '', true],
  ['reject', null, true],
  ['reject', undefined, true],
] as const)('the decision %s with the comment %j lacks its reason: %s', (decision, comment, expected) =>
  expect(isReasonMissing(decision, comment)).toBe(expected),
);

test('members who submit or have written the draft are not eligible', () => {
  const members = new Set(['a', 'b', 'c']);
  const found = findIneligible(['a', 'b', 'c', 'd'], members, { submittedBy: 'a', contributors: ['a', 'b'] });
  expect(found.map(({ member_id, reason }) => `${member_id} ${reason}`)).toEqual([
    ...['a submitter', 'b contributor', 'd not_member'],
  ]);
  expect(findIneligible(['a', 'd'], members)).toEqual([{ member_id: 'd', reason: 'not_member' }]);
});

describe('contributors', () => {
  test.each([
    ...[{ title: 'T' }, { version: null }, { department: 'D' }, { language: 'de' }, { change_summary: 'S' }],
    ...[{ minor_change: true }, { node_count: 1, content_bytes: 2 }, {}],
  ])('are added by a change of %j', (change) => {
    expect(addContributor(draft, change, 'b')).toEqual({ contributor_ids: ['owner', 'b'] });
    expect(addContributor(draft, change, 'owner')).toEqual({});
    expect(addContributor(draft, change, null)).toEqual({});
    expect(addContributor({ ...draft, status: 'published' }, change, 'b')).toEqual({});
  });

  test.each([{ editor_id: 'b' }, { approval: null, content_hash: null }, { status: 'published' }])(
    'are not added by a change of %j',
    (change) => expect(addContributor(draft, change, 'b')).toEqual({}),
  );

  test('of an older row are its owner and its editor', () => {
    const { contributor_ids: _, ...older } = draft;
    expect(listContributors(older)).toEqual(['owner']);
    expect(listContributors({ ...older, editor_id: 'e' })).toEqual(['owner', 'e']);
    expect(addContributor(older, {}, 'b')).toEqual({ contributor_ids: ['owner', 'b'] });
  });
});
