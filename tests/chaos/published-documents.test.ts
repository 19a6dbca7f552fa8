/** Tests that inserted documents have the rows of published ones. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { insertPublishedDocuments } from './published-documents.ts';
import { findDatabaseViolations } from './violations.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ services, contracts });
});
afterAll(() => app?.stop());

test('inserted documents break no invariant, published or pending', async () => {
  const { key } = await register(app);
  const at = new Date();
  const options = { count: 3, at };
  await insertPublishedDocuments(app, key, { ...options, outbox: { published_at: at } });
  const outbox = { pending: true, lease_until: at } as const;
  const waiting = await insertPublishedDocuments(app, key, { ...options, outbox, title: 'Long' });
  expect(await findDatabaseViolations(app.db)).toEqual([]);
  const { body } = await app.request('GET', `/documents/${waiting[0]?.data.document.id}`, { as: key });
  expect(body).toMatchObject({ status: 'published', title: 'SOP' });
});
