/** Tests that public links show approval and next review only with `show_control`, and that the ETag includes it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addMember, must, type Person, register, type TestApp, testApp } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';
import { EmbeddedDocument } from './contract.ts';
import { sharing } from './service.ts';

const at = '2026-11-30T09:30:00.000Z';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  const contracts = services.map(({ contract }) => contract);
  app = await testApp({ services, contracts, now: () => new Date(at) });
  ada = await register(app);
});
afterAll(() => app?.stop());

const send = (method: string, path: string, body?: unknown, as = ada.key) =>
  must(app, method, path, { as, body });
const show = (show_control: boolean) => send('PATCH', '/organization', { settings: { show_control } });

/** Creates a public link of a document. Returns its path and the document. */
async function share(isControlled: boolean): Promise<{ path: string; id: string; content_hash: string }> {
  const { id } = await send('POST', '/documents', { title: 'Vault', version: '1' });
  if (isControlled) {
    const approver = await addMember(app, ada.key);
    const approver_ids = [approver.userId];
    const { id: request, content_hash } = await send('POST', '/approvals', { document_id: id, approver_ids });
    const decision = { decision: 'approve', content_hash };
    await send('POST', `/approvals/${request}/decision`, decision, approver.token);
    await send('PATCH', `/documents/${id}/review`, { reviewer_id: approver.userId, every_months: 3 });
  }
  const { content_hash } = await send('POST', `/documents/${id}/publish`);
  const { org_slug, token } = await send('POST', `/documents/${id}/share-token`);
  return { path: `/embed/${org_slug}/${token}`, id, content_hash };
}

/** Reads both representations, with their ETags. */
async function read(path: string, known: Record<string, string> = {}) {
  const [json, html] = await Promise.all(
    ['json', 'html'].map(async (format) => {
      const headers = known[format] === undefined ? {} : { 'if-none-match': known[format] };
      const response = await app.request('GET', `${path}?format=${format}`, { headers });
      const etag = response.headers.get('etag') ?? '';
      return { status: response.status, text: Buffer.from(response.bytes).toString(), etag };
    }),
  );
  if (!json || !html) throw new Error('A representation is missing');
  return { json, html };
}

describe('control data of a public link', () => {
  test('is shown only with the setting, which changes the ETags', async () => {
    const { path, content_hash } = await share(true);
    const before = await read(path);
    expect(EmbeddedDocument.parse(JSON.parse(before.json.text))).not.toHaveProperty('control');
    for (const words of ['Approved', 'review']) expect(before.html.text).not.toContain(words);
    await show(true);
    const known = { json: before.json.etag, html: before.html.etag };
    const after = await read(path, known);
    expect([after.json.status, after.html.status]).toEqual([200, 200]);
    const control = { content_hash, approved_at: at, review_due_at: '2027-02-28T09:30:00.000Z' };
    expect(EmbeddedDocument.parse(JSON.parse(after.json.text)).control).toEqual(control);
    expect(after.html.text).toContain('<dt>Approved on</dt><dd><time datetime="2026-11-30T09:30:00.000Z"');
    expect(after.html.text).toContain('<dt>Next review by</dt><dd><time datetime="2027-02-28T09:30:00.000Z"');
    await show(false);
    const again = await read(path);
    expect(again.json).toEqual(before.json);
    expect(again.html.text).toBe(before.html.text);
  });

  test('has no names, and follows changes of the review', async () => {
    const { path, id } = await share(true);
    await show(true);
    const before = await read(path);
    await send('PATCH', `/documents/${id}/review`, { every_months: 12 });
    const after = await read(path, { json: before.json.etag, html: before.html.etag });
    expect(JSON.parse(after.json.text).control.review_due_at).toBe('2027-11-30T09:30:00.000Z');
    for (const text of [after.json.text, after.html.text]) expect(text).not.toContain('Guest');
    await send('PATCH', `/documents/${id}/review`, { every_months: null });
    const never = await read(path);
    expect(JSON.parse(never.json.text).control.review_due_at).toBeNull();
    expect(never.html.text).not.toContain('Next review by');
  });

  test('is empty for a document without approval and review', async () => {
    const { path, content_hash } = await share(false);
    await show(true);
    const { json, html } = await read(path);
    const control = { content_hash, approved_at: null, review_due_at: null };
    expect(JSON.parse(json.text).control).toEqual(control);
    for (const words of ['Approved on', 'Next review by']) expect(html.text).not.toContain(words);
  });

  test('is in the language of the page', async () => {
    const { path, id } = await share(true);
    await show(true);
    const revision = await send('POST', `/documents/${id}/revise`);
    await send('PATCH', `/documents/${revision.id}`, { language: 'de' });
    await send('POST', `/documents/${revision.id}/publish`);
    const { html } = await read(path);
    expect(html.text).toContain('<dt>Nächste Prüfung bis</dt>');
    // the revision was published without an approval
    expect(html.text).not.toContain('Freigegeben am');
  });
});
