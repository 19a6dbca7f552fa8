/** The part of the story about documents: write one, publish, share, export and archive it. */
import { readFile } from 'node:fs/promises';
import { must, until } from '#libs/testing';
import { encodePng } from '../../fixtures/generators/png.ts';
import type { Recorder } from '../recorder.ts';
import type { Accounts } from './accounts.ts';

const template = new URL('../../fixtures/corporate-template.docx', import.meta.url);
const text = (value: string) => ({ type: 'paragraph', content: [{ type: 'text', text: value }] });
const content = (...values: string[]) => ({ type: 'doc', content: values.map(text) });

const dayMs = 86_400_000;

const change_summary = 'Two people carry the cash to the safe.';

const tree = [
  {
    node_type: 'section',
    title: 'Count the cash',
    children: [
      { node_type: 'step', title: 'Lock the till', content: content('Turn the key to position 2.') },
      { node_type: 'step', title: 'Count coins and notes', content: content('Count twice.') },
    ],
  },
];

/** The admin publishes another document, before there is a webhook. Returns its id. */
export async function publishOther({ prepare }: Recorder, as: string): Promise<string> {
  const body = { title: 'Opening the store', department: 'Store operations' };
  const { id } = await prepare(as, 'POST', '/documents', body);
  await prepare(as, 'POST', `/documents/${id}/publish`);
  return id;
}

/** The admin writes a draft. Returns its id. */
export async function write({ example }: Recorder, { key: as }: Accounts): Promise<string> {
  const created = await example('createDocument', {
    as,
    body: { title: 'Closing the till', version: '1.0', department: 'Store operations', nodes: tree },
  });
  const params = { doc_id: String(created.id) };
  const [section] = created.nodes;
  const step = await example('createNode', {
    as,
    params,
    body: { node_type: 'step', title: 'Take the cash to the safe', order: 2, parent_id: section.id },
  });
  await example('updateNode', {
    as,
    params: { ...params, node_id: step.id },
    body: { content: content('Two people carry the cash.', 'Both sign the list.') },
  });
  const [first, second] = section.children;
  await example('reorderNodes', {
    as,
    params,
    body: {
      nodes: [
        { node_id: second.id, order: 0 },
        { node_id: first.id, order: 1 },
      ],
    },
  });
  await example('deleteNode', { as, params: { ...params, node_id: first.id } });
  await example('replaceTree', { as, params, body: { nodes: tree } });
  await example('updateDocument', { as, params, body: { version: '1.1', language: 'en', change_summary } });
  const copy = await example('duplicateDocument', { as, params });
  await example('deleteDocument', { as, params: { doc_id: copy.id } });
  return params.doc_id;
}

/** The admin assigns the colleague as the editor, who gets a notification. */
export async function assign({ app, example }: Recorder, accounts: Accounts, doc_id: string): Promise<void> {
  const { key, colleague: as, colleagueId } = accounts;
  await example('assignEditor', { as: key, params: { doc_id }, body: { editor_id: colleagueId } });
  const findItem = async () => (await must(app, 'GET', '/inbox', { as }))[0];
  await until('the notification about the assignment', findItem);
  const [item] = await example('listInbox', { as, query: { unread: true } });
  await example('markInboxItemRead', { as, params: { item_id: item.id } });
  await example('markInboxRead', { as });
  await example('countInbox', { as });
  await example('deleteInboxItem', { as, params: { item_id: item.id } });
}

/** The admin submits the document twice. The colleague rejects it, and then approves it. */
export async function approve(recorder: Recorder, accounts: Accounts, doc_id: string): Promise<void> {
  const { example, prepare } = recorder;
  const { key, colleague, colleagueId } = accounts;
  const approver_ids = [colleagueId];
  await example('updateApprovers', { as: key, params: { doc_id }, body: { approver_ids } });
  const submitted = { document_id: doc_id, comment: 'Two people now carry the cash.' };
  const { id, content_hash } = await example('requestApproval', { as: key, body: submitted });
  await example('listApprovals', {
    as: colleague,
    query: { document_id: doc_id, status: ['pending'], awaiting: 'me', limit: 20 },
  });
  await example('getApproval', { as: colleague, params: { approval_id: id } });
  await example('decideApproval', {
    as: colleague,
    params: { approval_id: id },
    body: { decision: 'approve', content_hash, comment: 'Checked in the store.' },
  });
  await example('withdrawApproval', { as: key, params: { approval_id: id } });
  const again = await prepare(key, 'POST', '/approvals', submitted);
  const decision = { decision: 'reject', content_hash, comment: 'Name the safe.' };
  await prepare(colleague, 'POST', `/approvals/${again.id}/decision`, decision);
  await prepare(key, 'PATCH', `/documents/${doc_id}/approvers`, { approver_ids: [] });
}

/** The admin publishes and shares the document, and everybody reads it. */
export async function publish(recorder: Recorder, { key: as }: Accounts, doc_id: string): Promise<void> {
  const { app, example } = recorder;
  const params = { doc_id };
  await example('publishDocument', { as, params });
  const findDocument = async () => (await must(app, 'GET', '/documents?q=till', { as })).length === 1;
  await until('the document in the search index', findDocument);
  await example('listDocuments', { as, query: { status: ['published'], q: 'till', limit: 20 } });
  await example('countDocuments', { as, query: { department: 'Store operations' } });
  await example('getDocument', { as, params });
  const { org_slug, token } = await example('createShareToken', { as, params, body: { replace: false } });
  await example('getShareToken', { as, params });
  for (const accept of ['application/json', 'text/html'])
    await example('getEmbeddedDocument', { accept, params: { org_slug, token } });
  await example('updateShareToken', {
    as,
    params,
    body: {
      expires_at: null,
      password: 'the till at noon',
      allowed_origins: ['https://intranet.example'],
    },
  });
  await example('submitSharePassword', {
    params: { org_slug, token },
    body: { password: 'the till at noon' },
  });
  await example('exportMarkdown', { as, params, query: { flavor: 'gfm' } });
  await example('exportHtml', { as, params });
  await example('exportLibrary', { as, query: { updated_since: '2026-01-01T00:00:00Z' } });
  const uploaded = await example('createTemplate', {
    as,
    body: { name: 'Corporate design', indent_inches: 0.5 },
    file: { name: 'corporate-design.docx', bytes: await readFile(template) },
  });
  await example('listTemplates', { as });
  await example('exportWord', { as, params, query: { template_id: uploaded.id, versioned: true } });
  await example('deleteTemplate', { as, params: { template_id: uploaded.id } });
}

/** The admin sets the review of a document, and the colleague confirms it. Another document was published long ago. */
export async function review(
  { app, example, prepare }: Recorder,
  { key, colleague, colleagueId }: Accounts,
  { doc_id, other }: { doc_id: string; other: string },
): Promise<void> {
  const params = { doc_id };
  await example('updateReview', {
    ...{ as: key, params, body: { reviewer_id: colleagueId, every_months: 12 } },
  });
  await example('confirmReview', { as: colleague, params, body: { comment: 'Tried it in the store.' } });
  await prepare(key, 'PATCH', `/documents/${other}/review`, { every_months: 12 });
  const now = Date.now();
  const fields = {
    published_at: new Date(now - 351 * dayMs),
    review_due_at: new Date(now + 14 * dayMs),
    review_notice_at: new Date(now),
  };
  const documents = app.db.collection<{ _id: string; review_notice_at: Date }>('documents');
  await documents.updateOne({ _id: other }, { $set: fields });
  const findNotice = () => documents.findOne({ _id: other, review_notice_at: fields.review_due_at });
  await until('the notice about the review', findNotice);
}

/** The admin imports a Markdown file: first a preview, then the draft. */
export async function importFile({ example }: Recorder, { key: as }: Accounts): Promise<void> {
  const text =
    '# Opening the shop\n\n## Lights\n\nSwitch on **all** lights.\n\n### Shop window\n\n- left\n- right\n';
  const file = { name: 'opening.md', bytes: Buffer.from(text) };
  await example('previewImport', { as, body: {}, file });
  await example('createImport', { as, body: {}, file });
}

/** The admin uploads a picture, and shares a document that shows it. */
export async function showPicture(
  { example, prepare }: Recorder,
  { key: as }: Accounts,
): Promise<{ document_id: string; asset_id: string }> {
  const file = { name: 'till.png', bytes: encodePng(4, 3, () => [11, 74, 125, 255]) };
  const { id: asset_id, src } = await example('createAsset', { as, body: {}, file });
  await example('getAsset', { as, params: { asset_id } });
  const image = { type: 'image', attrs: { src, alt: 'The till' } };
  const nodes = [{ node_type: 'section', title: 'Till', content: { type: 'doc', content: [image] } }];
  const { id } = await prepare(as, 'POST', '/documents', { title: 'Parts of the till', nodes });
  await prepare(as, 'POST', `/documents/${id}/publish`);
  const { org_slug, token } = await prepare(as, 'POST', `/documents/${id}/share-token`);
  await example('getEmbeddedAsset', { params: { org_slug, token, asset_id } });
  return { document_id: id, asset_id };
}

/** The admin revises the document and archives the revision. */
export async function revise({ example, prepare }: Recorder, { key: as }: Accounts, doc_id: string) {
  const revision = await example('reviseDocument', { as, params: { doc_id } });
  const [section] = revision.nodes;
  const changed = { content: content('Turn the key to position 3.') };
  await prepare(as, 'PATCH', `/documents/${revision.id}/nodes/${section.children[0].id}`, changed);
  await prepare(as, 'PATCH', `/documents/${revision.id}`, { version: '2.0' });
  await prepare(as, 'POST', `/documents/${revision.id}/publish`);
  await example('listVersions', { as, params: { doc_id } });
  await example('compareVersions', { as, params: { doc_id: revision.id }, query: { against: doc_id } });
  await example('triggerWebhooks', {
    as,
    params: { doc_id: revision.id },
    body: { event_type: 'document.revised' },
  });
  await example('deleteShareToken', { as, params: { doc_id } });
  await example('archiveDocument', { as, params: { doc_id: revision.id } });
  await example('restoreDocument', { as, params: { doc_id } });
}
