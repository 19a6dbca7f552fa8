/** Tests with the MongoDB profiler that an index serves every list of requests for approval. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { createDocument, type Person, profileCommands, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import type { ApprovalRow } from './store/collections.ts';

const limit = 20;

let app: TestApp;
let ada: Person;
let document_id: string;

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
  ada = await register(app);
  document_id = (await createDocument(app, ada.key)).id;
  const others = Array.from({ length: 5 }, newId);
  const statuses = ['approved', 'approved', 'approved', 'rejected', 'withdrawn', 'pending'] as const;
  const rows = Array.from({ length: 3_000 }, (_, at): ApprovalRow => {
    const undecided = { name: null, decision: null, comment: null, decided_at: null };
    // the first half is older and of Ada's document
    const isOld = at < 1_500;
    const approvers = [isOld ? ada.userId : others[at % 5], others[(at + 1) % 5]];
    return {
      _id: newId(),
      organization_id: at % 10 === 0 ? newId() : ada.organizationId,
      document_id: isOld ? document_id : newId(),
      content_hash: `sha256:${'0'.repeat(64)}`,
      status: statuses[at % 6] ?? 'pending',
      submitted_by: newId(),
      comment: null,
      approvers: approvers.map((member_id = '') => ({ member_id, ...undecided })),
      created_at: new Date(),
    };
  });
  await app.db.collection<ApprovalRow>('approvals').insertMany(rows);
});
afterAll(() => app?.stop());

test.each([
  '',
  'status=pending',
  'status=rejected&status=withdrawn',
  'document_id=<id>',
  'document_id=<id>&status=pending',
  'awaiting=me',
])('an index serves the list of requests with %s', async (query) => {
  const path = `/approvals?limit=${limit}&${query.replace('<id>', document_id)}`;
  let found = 0;
  const commands = await profileCommands(app.db, async () => {
    found = (await app.request('GET', path, { as: ada.key })).body.length;
  });
  const lists = commands.filter(({ collection }) => collection === 'approvals');
  expect([lists.length, found]).toEqual([1, limit]);
  // a document has few requests, so its index does not contain the status
  const mostRows = query.startsWith('document_id=<id>&') ? 10 * limit : limit + 1;
  for (const { keysExamined, docsExamined, sorts } of lists) {
    expect(sorts).toBe(false);
    expect(docsExamined).toBeLessThanOrEqual(mostRows);
    // each index range has one more key
    expect(keysExamined).toBeLessThanOrEqual(mostRows + 3);
  }
});
