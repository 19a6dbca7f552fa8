/** Tests that `npm run verify` reports nothing while services change the database. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMember, createDocument, must, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { findBrokenInvariants, formatBrokenInvariant } from '../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../tools/admin/verify/invariants.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ services, contracts });
});
afterAll(() => app?.stop());

const section = { node_type: 'section', title: 'Evening', order: 1 };

/** Creates, changes, publishes, revises, archives and deletes documents, and adds and removes members. */
async function changeEverything(key: string): Promise<void> {
  const request = (method: string, path: string, body?: unknown) =>
    must(app, method, path, { as: key, body });
  const { id } = await createDocument(app, key, { title: 'SOP', nodes: [{ ...section, order: 0 }] });
  const node = await request('POST', `/documents/${id}/nodes`, section);
  const member = await addMember(app, key);
  await request('PATCH', `/documents/${id}/editor`, { editor_id: member.userId });
  await request('POST', `/documents/${id}/publish`);
  await request('POST', `/documents/${id}/share-token`);
  const revision = await request('POST', `/documents/${id}/revise`);
  await request('DELETE', `/documents/${id}/nodes/${node.id}`);
  await request('DELETE', `/members/${member.userId}`);
  await request('POST', `/documents/${revision.id}/publish`);
  await request('POST', `/documents/${revision.id}/archive`);
  const { id: copy } = await request('POST', `/documents/${id}/duplicate`);
  await request('DELETE', `/documents/${copy}`);
}

test('no invariant is broken at any time while services change the data', async () => {
  const { key } = await register(app);
  let isOver = false;
  const work = async () => {
    while (!isOver) await changeEverything(key);
  };
  const working = Promise.all([work(), work(), work()]);
  const found = [];
  try {
    for (let walks = 0; walks < 10; walks += 1)
      for await (const broken of findBrokenInvariants(app.db, invariants, {
        now: new Date(),
        graceMs: 3_600_000,
      }))
        found.push(formatBrokenInvariant(broken));
  } finally {
    isOver = true;
    await working;
  }
  expect(found).toEqual([]);
});
