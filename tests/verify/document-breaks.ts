/** Changes that break the invariants of documents and of the quotas. */
import {
  type Breaks,
  change,
  copy,
  findFirst,
  nobody,
  remove,
  set,
  stranger,
  yesterday,
} from './change-rows.ts';

const draft = { status: 'draft', parent_doc_id: null };
/** A version with a content hash. */
const hashed = { content_hash: { $type: 'string' } };
/** A request that was approved, and a draft with a pending one. */
const approved = { status: 'approved' };
const pending = { status: 'pending' };
const submitted = { 'approval.status': 'pending' };
const revision = { parent_doc_id: { $ne: null } };
const charged = { charged_blocks: { $exists: true } };
/** Rows of the search index that belong to a document. */
const ofDocument = { organization_id: { $ne: '' } };

/** The changes by invariant. */
export const documentBreaks: Breaks = {
  'documents.organization_id': [set('documents', stranger, draft)],
  'documents.created_by': [set('documents', { created_by: nobody })],
  'documents.editor_id': [set('documents', { editor_id: nobody })],
  'documents.status': [
    set('documents', { published_at: yesterday }, draft),
    set('documents', { archived_at: yesterday }, { status: 'published' }),
    set('documents', { archived_at: null }, { status: 'archived' }),
  ],
  'documents.family_id': [set('documents', { family_id: nobody }, draft)],
  'documents.parent_doc_id': [
    set('documents', { parent_doc_id: nobody }, revision),
    set('documents', { family_id: nobody }, revision),
    set('documents', stranger, revision),
    async (db) => {
      const { _id } = await findFirst(db, 'documents', draft);
      return set('documents', { parent_doc_id: _id, family_id: _id }, revision)(db);
    },
  ],
  'documents.share_epoch': [change('documents', revision, { $inc: { share_epoch: 1 } })],
  'documents.content_hash': [
    set('documents', { content_hash: `sha256:${'0'.repeat(64)}` }, draft),
    set('documents', { title: 'Other' }, hashed),
    set('documents', { status: 'draft' }, { ...hashed, approval: null }),
    set('documents', { title: 'Other' }, submitted),
    async (db) => {
      const { _id } = await findFirst(db, 'documents', { ...hashed, node_count: { $gt: 0 } });
      await set('nodes', { title: 'Other' }, { document_id: _id })(db);
      return _id;
    },
  ],
  'documents.approval': [
    set('documents', { status: 'published' }, submitted),
    set('documents', { 'approval.status': 'approved' }, submitted),
    set('documents', { content_hash: null }, submitted),
    set('documents', { 'approval.id': nobody }, submitted),
    async (db) => {
      const { document_id } = await findFirst(db, 'approvals', approved);
      await set('approvals', { status: 'withdrawn' }, approved)(db);
      return String(document_id);
    },
  ],
  'documents.approver_ids': [set('documents', { approver_ids: [nobody] }, revision)],
  'approvals.organization_id': [set('approvals', stranger, approved)],
  'approvals.document_id': [
    set('approvals', { document_id: nobody }, pending),
    set('approvals', stranger, pending),
    async (db) => {
      const { _id, document_id } = await findFirst(db, 'approvals', pending);
      await set('documents', { approval: null }, { _id: document_id })(db);
      return _id;
    },
  ],
  'approvals.approvers': [
    set('approvals', { 'approvers.0.decision': null }, approved),
    set('approvals', { 'approvers.0.decision': 'reject' }, approved),
    set('approvals', { 'approvers.0.decision': 'reject' }, pending),
    set('approvals', { 'approvers.0.decision': 'approve' }, { status: 'rejected' }),
    set('approvals', { approvers: [] }),
    async (db) => {
      const { _id, submitted_by } = await findFirst(db, 'approvals', pending);
      return set('approvals', { 'approvers.0.member_id': submitted_by }, { _id })(db);
    },
  ],
  'documents.lineage_id': [
    async (db) => {
      const { document_id, lineage_id } = await findFirst(db, 'nodes', { node_type: 'section' });
      await set('nodes', { lineage_id }, { document_id, node_type: 'step' })(db);
      return String(document_id);
    },
  ],
  'documents.node_count': [
    change('documents', {}, { $inc: { node_count: 1 } }),
    remove('nodes', { node_type: 'step' }, 'document_id'),
  ],
  'documents.content_bytes': [change('documents', {}, { $inc: { content_bytes: 1 } })],
  'documents.reindex_at': [set('documents', { reindex_at: yesterday })],
  'documents.words': [remove('search', ofDocument), set('search', stranger, ofDocument)],
  'nodes.document_id': [set('nodes', { document_id: nobody }), set('nodes', stranger)],
  'nodes.parent_id': [
    set('nodes', { parent_id: nobody }, { node_type: 'step' }),
    set('nodes', { parent_id: null }, { node_type: 'step' }),
    set('nodes', { node_type: 'sub_step' }, { node_type: 'step' }),
    set('nodes', { parent_id: nobody }, { node_type: 'section' }),
    async (db) => {
      const step = await findFirst(db, 'nodes', { node_type: 'step' });
      const inOtherDocument = { node_type: 'section', document_id: { $ne: step.document_id } };
      const { _id: parent_id } = await findFirst(db, 'nodes', inOtherDocument);
      return set('nodes', { parent_id }, { _id: step._id })(db);
    },
  ],
  'nodes.order': [set('nodes', { order: Number.POSITIVE_INFINITY }), set('nodes', { order: Number.NaN })],
  'search._id': [copy('search', { _id: nobody }, ofDocument), set('search', stranger, ofDocument)],

  'documents.charged_blocks': [
    async (db) => {
      const { _id } = await findFirst(db, 'documents', charged);
      return set('documents', stranger, { _id })(db);
    },
  ],
  'storage_usage.documents': [
    change('storage_usage', {}, { $inc: { documents: 1 } }),
    async (db) => {
      const { organization_id } = await findFirst(db, 'documents', charged);
      await change('documents', charged, { $unset: { charged_blocks: 1 } })(db);
      return String(organization_id);
    },
  ],
  'storage_usage.blocks': [
    change('storage_usage', {}, { $inc: { blocks: -1 } }),
    async (db) => {
      const { organization_id } = await findFirst(db, 'documents', charged);
      await change('documents', charged, { $inc: { charged_blocks: 1 } })(db);
      return String(organization_id);
    },
  ],
  'storage_usage.terms_version': [
    async (db) => {
      const { organization_id } = await findFirst(db, 'documents', charged);
      await change('storage_usage', {}, { $unset: { recount_at: 1 } })(db);
      await change('documents', charged, { $inc: { content_bytes: 70_000 } })(db);
      return String(organization_id);
    },
  ],

  'publish_ledger.document_id': [
    set('publish_ledger', { document_id: nobody }),
    set('publish_ledger', stranger),
    async (db) => {
      const row = await findFirst(db, 'publish_ledger');
      await set('documents', { published_at: null }, { _id: row.document_id })(db);
      return row._id;
    },
  ],
  'publish_ledger.month': [set('publish_ledger', { month: '1999-12' })],
  'organizations.publishes': [
    remove('publish_ledger', {}, 'organization_id'),
    async (db) => {
      await copy('publish_ledger', { _id: nobody })(db);
      return String((await findFirst(db, 'publish_ledger', { _id: nobody })).organization_id);
    },
  ],
  'publish_usage.used': [
    change('publish_usage', {}, { $inc: { used: 1 } }),
    change('publish_usage', {}, { $inc: { used: -1 } }),
  ],
};
