/** Tests that every copy of a document says which version it is and whether it is in force. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'content-disposition';
import { unpack } from '#libs/opc';
import { addMember, type Person, type TestApp } from '#libs/testing';
import { docx, p } from '../../tests/word/samples.ts';
import { exportTestApp } from './testing/test-app.ts';

const placeholders = '{{status}} by {{owner}}, edited by {{editor}}, see [{{url}}] {{history}}';

let app: TestApp;
let ada: Person;
let templateId: string;

beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
  const data = new FormData();
  data.append('name', 'Facts');
  data.append('file', new Blob([new Uint8Array(docx(p(placeholders) + p('{{content}}')))]), 'facts.docx');
  templateId = (await send('POST', '/templates', data)).body.id;
});
afterAll(() => app?.stop());

const send = (method: string, path: string, body?: unknown) =>
  app.request(method, path, { as: ada.key, body });

/** Creates a published document of version 1.0, with the people of an organization of its own. */
async function publishDocument(more: object = {}): Promise<{ id: string }> {
  const { id } = (await send('POST', '/documents', { title: 'Lockout', version: '1.0', ...more })).body;
  await send('POST', `/documents/${id}/publish`);
  return { id };
}

/** Publishes a revision with another version; returns its id. */
async function revise(id: string, version: string): Promise<string> {
  const revision = (await send('POST', `/documents/${id}/revise`)).body;
  await send('PATCH', `/documents/${revision.id}`, { version });
  await send('POST', `/documents/${revision.id}/publish`);
  return revision.id;
}

/** Returns the text and markup of a part of an exported file. */
async function exportPart(
  id: string,
  template: string,
  part: string,
): Promise<{ text: string; xml: string }> {
  const { bytes } = await send('GET', `/documents/${id}/export/word?template_id=${template}`);
  const xml = Buffer.from((await unpack(bytes)).get(part) ?? []).toString();
  return {
    text: xml
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
    xml,
  };
}

test('the header of the built-in template names version and status', async () => {
  const getHeader = (id: string) => exportPart(id, 'default', 'word/header1.xml');
  const draft = (await send('POST', '/documents', { title: 'Lockout', version: '1.0' })).body;
  const asDraft = await getHeader(draft.id);
  expect(asDraft.text).toBe('Lockout Version 1.0 DRAFT');
  expect(asDraft.xml).toContain('string="DRAFT"');

  await send('POST', `/documents/${draft.id}/publish`);
  const asPublished = await getHeader(draft.id);
  expect(asPublished.text).toBe('Lockout Version 1.0 Published');
  expect(asPublished.xml).not.toContain('<w:pict');

  const revision = await revise(draft.id, '2.0');
  const asSuperseded = await getHeader(draft.id);
  expect(asSuperseded.text).toBe('Lockout Version 1.0 SUPERSEDED by version 2.0');
  expect(asSuperseded.xml).toContain('string="SUPERSEDED BY 2.0"');

  await send('POST', `/documents/${revision}/archive`);
  const asArchived = await getHeader(revision);
  expect(asArchived.text).toBe('Lockout Version 2.0 ARCHIVED');
  expect(asArchived.xml).toContain('string="ARCHIVED"');
});

test('a template shows owner, editor, link and history of a document', async () => {
  const { id } = await publishDocument();
  const { body } = await send('POST', `/documents/${id}/share-token`);
  const shared = await exportPart(id, templateId, 'word/document.xml');
  expect(shared.text).toContain(`[${body.url}]`);
  await send('DELETE', `/documents/${id}/share-token`);
  const second = await revise(id, '1.1');
  const me = (await send('GET', '/me')).body.user.name;
  const getDay = async (version: string) =>
    (await send('GET', `/documents/${version}`)).body.published_at.slice(0, 10);
  const history = `1.1 ${await getDay(second)} ${me} 1.0 ${await getDay(id)} ${me}`;
  const { text } = await exportPart(second, templateId, 'word/document.xml');
  expect(text).toContain(`Published by ${me}, edited by , see []`);
  expect(text).toContain(`Version Published Published by ${history}`);
});

test('a link of an archived family is not shown', async () => {
  const { id } = await publishDocument();
  await send('POST', `/documents/${id}/share-token`);
  await send('POST', `/documents/${id}/archive`);
  expect((await exportPart(id, templateId, 'word/document.xml')).text).toContain('see []');
});

test('a link is not shown from its end on', async () => {
  const { id } = await publishDocument();
  const { body } = await send('POST', `/documents/${id}/share-token`);
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  expect((await send('PATCH', `/documents/${id}/share-token`, { expires_at })).status).toBe(200);
  const before = await exportPart(id, templateId, 'word/document.xml');
  expect(before.text).toContain(`[${body.url}]`);
  const tokens = app.db.collection('share_tokens');
  await tokens.updateOne({ family_id: id }, { $set: { expires_at: new Date() } });
  expect((await exportPart(id, templateId, 'word/document.xml')).text).toContain('see []');
});

describe('an approved version', () => {
  const form = new FormData();
  form.append('name', 'Approval');
  const text =
    'On {{approved_at}} by {{approved_by}}: {{change_summary}} [{{content_hash}}], until {{review_due}}.';
  form.append('file', new Blob([new Uint8Array(docx(p(text)))]), 'approval.docx');

  /** Creates a draft that two new members have approved. */
  async function createApproved() {
    const approvers = [await addMember(app, ada.key), await addMember(app, ada.key)];
    const draft = (await send('POST', '/documents', { title: 'Lockout', version: '1' })).body;
    await send('PATCH', `/documents/${draft.id}`, { change_summary: 'Two\nlocks.' });
    await send('PATCH', `/documents/${draft.id}/review`, { every_months: 12 });
    const approver_ids = approvers.map(({ userId }) => userId);
    const request = (await send('POST', '/approvals', { document_id: draft.id, approver_ids })).body;
    const { content_hash } = request;
    // in another order than they were asked
    for (const { token: as } of approvers.toReversed()) {
      const body = { decision: 'approve', content_hash };
      await app.request('POST', `/approvals/${request.id}/decision`, { as, body });
    }
    const names = approvers.toReversed().map(async ({ token }) => {
      return (await app.request('GET', '/me', { as: token })).body.user.name;
    });
    return { id: draft.id, digits: content_hash.slice(7, 19), names: (await Promise.all(names)).join(', ') };
  }

  test('shows approval, change summary and hash, but not as a draft', async () => {
    const { id: template } = (await send('POST', '/templates', form)).body;
    const { id, digits, names } = await createApproved();
    const getText = async () => (await exportPart(id, template, 'word/document.xml')).text;
    const getMarkdown = async () => {
      const { bytes } = await send('GET', `/documents/${id}/export/markdown`);
      return new TextDecoder().decode(bytes);
    };
    expect(await getText()).toContain(`On by : Two locks. [${digits}], until .`);
    expect(await getMarkdown()).toBe('# Lockout\n\nVersion 1\n');
    const { review, approval } = (await send('POST', `/documents/${id}/publish`)).body;
    const [due, day] = [review.due_at.slice(0, 10), approval.approved_at.slice(0, 10)];
    expect(await getText()).toContain(`On ${day} by ${names}: Two locks. [${digits}], until ${due}.`);
    expect(await getMarkdown()).toBe(`# Lockout\n\nVersion 1 · Approved ${day}\n`);
    const other = await createApproved();
    const otherReview = (await send('POST', `/documents/${other.id}/publish`)).body.review;
    // a change in place ends the approval
    await send('PATCH', `/documents/${other.id}`, { title: 'Lockouts' });
    const changed = await exportPart(other.id, template, 'word/document.xml');
    expect(changed.text).toContain(`On by : Two locks. [], until ${otherReview.due_at.slice(0, 10)}.`);
    await revise(id, '2');
    expect(await getText()).toContain(`On ${day} by ${names}: Two locks. [${digits}], until .`);
    expect(await getMarkdown()).toBe('# Lockout\n\nVersion 1\n');
  });
});

test('the history names a publisher who has left the organization', async () => {
  const eve = await addMember(app, ada.key, { role: 'admin' });
  const { id } = (await send('POST', '/documents', { title: 'Lockout' })).body;
  await app.request('POST', `/documents/${id}/publish`, { as: eve.token });
  const { name } = (await app.request('GET', '/me', { as: eve.token })).body.user;
  await send('DELETE', `/members/${eve.userId}`);
  expect((await exportPart(id, templateId, 'word/document.xml')).text).toContain(name);
});

test.each(['word?template_id=default&', 'markdown?'])(
  'versioned=true adds the version to the file name of %s',
  async (path) => {
    const { id } = await publishDocument({ version: '1/0' });
    const getName = async (query: string) => {
      const { headers } = await send('GET', `/documents/${id}/export/${path}${query}`);
      return parse(headers.get('content-disposition') ?? '').parameters.filename;
    };
    expect(await getName('versioned=true')).toMatch(/^Lockout 1-0\.(docx|md)$/);
    expect(await getName('versioned=false')).toMatch(/^Lockout\.(docx|md)$/);
    expect(await getName('')).toMatch(/^Lockout\.(docx|md)$/);
  },
);

test('another value of versioned is a 400', async () => {
  const { id } = await publishDocument();
  const response = await send('GET', `/documents/${id}/export/markdown?versioned=yes`);
  expect(response).toMatchObject({ status: 400, body: { errors: [{ path: 'query/versioned' }] } });
});
