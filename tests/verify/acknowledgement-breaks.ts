/** Changes that break the invariants of acknowledgements. */
import { type Breaks, change, findFirst, nobody, set, stranger, yesterday } from './change-rows.ts';

const acknowledged = { acknowledged_at: { $exists: true } };
const requests = 'acknowledgement_requests';
const readers = 'acknowledgement_readers';

/** The changes by invariant. */
export const acknowledgementBreaks: Breaks = {
  'documents.baseline_id': [
    set(
      'documents',
      { baseline_published_at: yesterday },
      { minor_change: true, baseline_id: { $exists: true } },
    ),
    async (db) => {
      const other = await findFirst(db, 'documents', { baseline_id: { $exists: true }, minor_change: false });
      const published = { status: 'published', minor_change: false, _id: { $ne: other._id } };
      return set('documents', { baseline_id: other._id }, published)(db);
    },
  ],
  [`${requests}.organization_id`]: [set(requests, stranger)],
  [`${requests}.family_id`]: [set(requests, { family_id: nobody })],
  [`${requests}.share_epoch`]: [change(requests, {}, { $inc: { share_epoch: 1 } })],
  [`${requests}.status`]: [
    set(requests, { closed_at: yesterday }, { status: 'open' }),
    set(requests, { closed_at: null }, { status: 'closed' }),
    set(requests, { overdue_at: yesterday }, { status: 'closed' }),
  ],
  [`${requests}.reader_count`]: [change(requests, {}, { $inc: { reader_count: 1 } })],
  [`${readers}.request_id`]: [set(readers, { family_id: nobody }), set(readers, stranger)],
  [`${readers}.acknowledged_document_id`]: [
    change(readers, acknowledged, { $unset: { acknowledged_document_id: 1 } }),
    set(readers, { acknowledged_baseline_id: nobody }, acknowledged),
    set(readers, { acknowledged_at: yesterday }, acknowledged),
  ],
  'acknowledgements.request_id': [
    set('acknowledgements', { request_id: nobody }),
    set('acknowledgements', { statement: 'Another one' }),
  ],
  'acknowledgements.content_hash': [
    set('acknowledgements', { content_hash: `sha256:${'0'.repeat(64)}` }),
    set('acknowledgements', { baseline_id: nobody }),
    set('acknowledgements', { document_id: nobody, baseline_id: yesterday }),
  ],
};
