/** Tests the audit log over HTTP with a real MongoDB: its entries, its chain, filters and exports. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  addMember,
  createDocument,
  createWebhook,
  type Person,
  publishDocument,
  register,
  setPlan,
  type TestApp,
  testApp,
  until,
} from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { services } from '../../testing/services.ts';
import { AuditEntry } from '../contract.ts';
import { emptyLog, hashEntry, toCanonicalJson } from '../rules/audit-chain.ts';

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await testApp({ services, contracts });
});
afterAll(() => app?.stop());

const list = async (as: string, query = ''): Promise<AuditEntry[]> =>
  (await app.request('GET', `/audit-log${query}`, { as })).body;
/** Waits for the newest entry of an action. */
const findEntry = (as: string, action: string) =>
  until(`an entry ${action}`, async () => (await list(as, `?action=${action}`))[0]);
const exportLog = async (as: string, query = '') =>
  new TextDecoder().decode((await app.request('GET', `/audit-log/export${query}`, { as })).bytes);
const parseLines = (text: string): AuditEntry[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : AuditEntry.parse(JSON.parse(line))));

describe('an entry', () => {
  test('names who published what, with the key and the request', async () => {
    ada = await register(app);
    const document = await createDocument(app, ada.key, { title: 'Cash', version: '1' });
    const headers = { 'x-request-id': 'audit-1' };
    await app.request('POST', `/documents/${document.id}/publish`, { as: ada.key, headers });
    const entry = AuditEntry.parse(await findEntry(ada.token, 'document.published'));
    expect(entry).toMatchObject({
      ...{ organization_id: ada.organizationId, action: 'document.published', request_id: 'audit-1' },
      actor: { type: 'member', id: ada.userId },
      ...{ api_key_id: expect.any(String), document_id: document.id },
      target: { type: 'document', id: document.id },
      details: { title: 'Cash', version: '1', content_hash: expect.stringMatching(/^sha256:/) },
    });
    // a session has no key
    const revision = await app.request('POST', `/documents/${document.id}/revise`, { as: ada.token });
    await app.request('DELETE', `/documents/${revision.body.id}`, { as: ada.token });
    expect(await findEntry(ada.token, 'document.deleted')).toMatchObject({ api_key_id: null });
  });

  test('shows settings before and after, without names and secrets', async () => {
    const as = ada.token;
    const member = await addMember(app, as);
    const at = `/members/${member.userId}`;
    await app.request('PATCH', at, { as, body: { role: 'admin' } });
    expect((await findEntry(as, 'member.updated')).details).toEqual({
      before: { role: 'member', department: null },
      after: { role: 'admin', department: null },
    });
    await app.request('PATCH', '/organization', {
      as,
      body: { name: 'Secret Name', settings: { lock_published: true } },
    });
    expect((await findEntry(as, 'organization.updated')).details).toEqual({
      changed: ['name', 'settings.lock_published'],
      before: { slug: ada.slug, settings: { lock_published: false } },
      after: { slug: ada.slug, settings: { lock_published: true } },
    });
    const { id } = await publishDocument(app, as);
    for (const editor_id of [member.userId, null])
      await app.request('PATCH', `/documents/${id}/editor`, { as, body: { editor_id } });
    expect((await findEntry(as, 'document.unassigned')).details).toMatchObject({
      before: { editor_id: member.userId },
      after: { editor_id: null },
    });
    await app.request('PATCH', `/documents/${id}/review`, { as, body: { every_months: 3 } });
    expect((await findEntry(as, 'document.review_updated')).details).toMatchObject({
      before: { reviewer_id: null, every_months: null },
      review: { reviewer_id: null, every_months: 3 },
    });
    const asked = { document_id: id, due_days: 14 };
    const request = await app.request('POST', '/acknowledgement-requests', { as, body: asked });
    const requestPath = `/acknowledgement-requests/${request.body.id}`;
    await app.request('PATCH', requestPath, { as, body: { due_days: 30 } });
    const { audience } = request.body;
    expect((await findEntry(as, 'acknowledgement.request_updated')).details).toEqual({
      ...{ audience, due_days: 30, status: 'open' },
      before: { audience, due_days: 14 },
    });
    const path = `/documents/${id}/share-token`;
    const { body: link } = await app.request('POST', path, { as });
    await app.request('PATCH', path, { as, body: { password: 'hidden words', allowed_origins: [] } });
    expect((await findEntry(as, 'share_token.updated')).details).toEqual({
      changed: ['password', 'allowed_origins'],
      before: { expires_at: null, has_password: false, allowed_origins: null },
      after: { expires_at: null, has_password: true, allowed_origins: [] },
    });
    await app.request('DELETE', path, { as });
    await findEntry(as, 'share_token.deleted');
    await setPlan(app, ada.organizationId, 'scale');
    expect(await findEntry(as, 'organization.plan_changed')).toMatchObject({
      actor: { type: 'operator', id: null },
      details: { after: 'scale' },
    });
    const webhook = await createWebhook(app, as, 'http://127.0.0.1:9/hooks/secret-path');
    await app.request('PATCH', `/webhooks/${webhook.id}`, { as, body: { is_active: false } });
    await app.request('POST', `/webhooks/${webhook.id}/rotate-secret`, { as });
    await app.request('DELETE', `/webhooks/${webhook.id}`, { as });
    expect((await findEntry(as, 'webhook.deleted')).details).toMatchObject({ host: '127.0.0.1:9' });
    await app.request('DELETE', at, { as });
    await findEntry(as, 'member.removed');
    const text = await exportLog(as);
    for (const secret of [link.token, webhook.secret, 'hidden words', 'secret-path', 'Secret Name'])
      expect(text).not.toContain(secret);
    for (const person of [member.email, ada.email]) expect(text).not.toContain(person);
  });

  test('names the request of a person without a credential, too', async () => {
    const bob = await register(app);
    const as = bob.token;
    const email = 'joins@example.com';
    const invitation = await app.request('POST', '/members/invitations', {
      as,
      body: { email, role: 'member' },
    });
    await app.request('POST', '/members/invitations/accept', {
      headers: { 'x-request-id': 'joins' },
      body: { token: invitation.body.token, name: 'Joan', password: 'a long enough password' },
    });
    expect((await findEntry(as, 'member.joined')).request_id).toBe('joins');
    await app.request('PATCH', '/organization', { as, body: { settings: { lock_published: true } } });
    const { id, content_hash } = await publishDocument(app, as);
    const { body: request } = await app.request('POST', '/acknowledgement-requests', {
      as,
      body: { document_id: id },
    });
    const readers = [{ external_id: 'E 1', name: 'Grace' }];
    const path = `/acknowledgement-requests/${request.id}/readers`;
    const { body: added } = await app.request('POST', path, { as, body: { readers } });
    await app.request('POST', new URL(added[0].url).pathname, {
      headers: { 'x-request-id': 'reads' },
      body: new URLSearchParams({ content_hash }),
    });
    expect(await findEntry(as, 'acknowledgement.made')).toMatchObject({
      ...{ request_id: 'reads', actor: { type: 'reader', id: added[0].id } },
    });
  });

  test('is not written for a change that changes nothing, or is refused', async () => {
    const bob = await register(app);
    const as = bob.token;
    await app.request('PATCH', `/members/${bob.userId}`, { as, body: { role: 'admin' } });
    await app.request('PATCH', '/organization', { as, body: { settings: { lock_published: false } } });
    await app.request('DELETE', `/members/${bob.userId}`, { as });
    await app.request('DELETE', `/api-keys/${newId()}`, { as });
    const { body: key } = await app.request('POST', '/api-keys', { as, body: { name: 'Key' } });
    await app.request('DELETE', '/me/api-keys', { as });
    const revoked = await findEntry(as, 'api_key.revoked');
    expect(revoked.details).toMatchObject({ key_ids: expect.arrayContaining([key.id]) });
    const actions = (await list(as)).map(({ action }) => action);
    expect(new Set(actions)).toEqual(new Set(['api_key.created', 'api_key.revoked']));
  });

  test('is not written for an event that was sent to webhooks again', async () => {
    const bob = await register(app);
    const { id } = await publishDocument(app, bob.key);
    await setPlan(app, bob.organizationId, 'scale');
    await app.request('POST', `/documents/${id}/trigger-webhooks`, { as: bob.key });
    await app.request('POST', `/documents/${id}/archive`, { as: bob.key });
    await findEntry(bob.token, 'document.archived');
    expect(await list(bob.token, '?action=document.published')).toHaveLength(1);
  });
});

describe('the chain', () => {
  test('has no gap when many changes are made at the same time', async () => {
    const bob = await register(app);
    const create = () => app.request('POST', '/api-keys', { as: bob.token, body: { name: 'Key' } });
    await Promise.all(Array.from({ length: 40 }, create));
    const text = await until('all entries', async () => {
      const exported = await exportLog(bob.token, '?format=jsonl');
      return parseLines(exported).length >= 41 && exported;
    });
    let head = emptyLog;
    for (const line of text.trimEnd().split('\n')) {
      const { hash, ...entry }: AuditEntry = JSON.parse(line);
      expect(line).toBe(toCanonicalJson({ ...entry, hash }));
      expect([entry.seq, entry.previous_hash]).toEqual([head.seq + 1, head.hash]);
      expect(hash).toBe(hashEntry(entry));
      head = { seq: entry.seq, hash };
    }
    expect(head.seq).toBe(41);
  });
});

describe('lists and exports', () => {
  test('are filtered and paged, newest first', async () => {
    const as = ada.token;
    const all = await list(as);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => all.length - at));
    const first = await app.request('GET', '/audit-log?limit=3', { as });
    const [, next = ''] = /<\/api\/v1([^>]+)>/.exec(first.headers.get('link') ?? '') ?? [];
    const second = await app.request('GET', next, { as });
    expect([...first.body, ...second.body]).toEqual(all.slice(0, 6));
    const [oldest, middle] = [all.at(-1), all[4]];
    if (!oldest || !middle) throw new Error('The log is too short');
    const since = middle.occurred_at;
    expect(await list(as, `?since=${since}`)).toEqual(all.filter((one) => one.occurred_at >= since));
    expect(await list(as, `?until=${since}`)).toEqual(all.filter((one) => one.occurred_at < since));
    expect(await list(as, `?since=${since}&until=${oldest.occurred_at}`)).toEqual([]);
    const documentId = all.find(({ action }) => action === 'document.published')?.document_id;
    expect(await list(as, `?document_id=${documentId}`)).toEqual(
      all.filter(({ document_id }) => document_id === documentId),
    );
    expect(await list(as, `?document_id=${newId()}`)).toEqual([]);
    expect(await list(as, `?actor_id=${ada.userId}`)).toEqual(
      all.filter(({ actor }) => actor.id === ada.userId),
    );
    const from = parseLines(await exportLog(as, `?since=${since}`));
    expect(from.map(({ seq }) => seq)).toEqual(from.map((_, at) => all.length - from.length + 1 + at));
    expect(await exportLog(as, `?since=${since}&until=${oldest.occurred_at}`)).toBe('');
  });

  test('reject unknown actions, ids, times and cursors of other lists', async () => {
    const as = ada.token;
    const { headers } = await app.request('GET', '/members?limit=1', { as });
    const [, cursor = 'x'] = /[?&]cursor=([^&>]+)/.exec(headers.get('link') ?? '') ?? [];
    for (const query of ['action=x', 'document_id=x', 'actor_id=x', 'since=2026', `cursor=${cursor}`])
      expect([query, (await app.request('GET', `/audit-log?${query}`, { as })).status]).toEqual([query, 400]);
    expect((await app.request('GET', '/audit-log/export?format=xml', { as })).status).toBe(400);
  });

  test('are for admins of the organization only', async () => {
    const member = await addMember(app, ada.token);
    const bob = await register(app);
    for (const path of ['/audit-log', '/audit-log/export'])
      expect((await app.request('GET', path, { as: member.token })).status).toBe(403);
    expect(await list(bob.token, `?actor_id=${ada.userId}`)).toEqual([]);
    expect(
      parseLines(await exportLog(bob.token)).every((one) => one.organization_id === bob.organizationId),
    ).toBe(true);
  });

  test('as CSV keep spreadsheets from running a cell', async () => {
    const bob = await register(app);
    const headers = { 'x-request-id': '-2+3' };
    await app.request('POST', '/api-keys', { as: bob.token, headers, body: { name: 'Key' } });
    await findEntry(bob.token, 'api_key.created');
    const [header, ...rows] = (await exportLog(bob.token, '?format=csv')).trimEnd().split('\r\n');
    expect(header).toMatch(/^seq,id,organization_id,.*,hash$/);
    expect(rows.join()).not.toContain(',-2');
  });
});
