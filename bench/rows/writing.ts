/** Writing: documents, nodes, publishing. */
import type { Row as DbRow } from '../floor/answering.ts';
import { httpRow } from '../row.ts';
import { smallDocument } from './trees.ts';

/** A blank document. */
export const createDocument = httpRow({
  name: 'create a document',
  goal: 3,
  remark: 'floor: one insert, no transaction',
  requests: 1500,
  floor: 'createDocument',
  same: 'shape',
  async prepare({ home: { key } }) {
    const body = { title: 'A new procedure', version: '1.0', department: 'Operations' };
    return async () => () => ({ method: 'POST', path: '/api/v1/documents', body, key });
  },
});

/** More than connections, so that those who write at the same time seldom meet in one document. */
const documentsWrittenTo = 256;

/** A step below a section. */
export const createNode = httpRow({
  name: 'create a node',
  goal: 2.2,
  requests: 800,
  floor: 'createNode',
  same: 'shape',
  async prepare({ home, api, copies, db }) {
    const { id } = await api(home, 'POST', '/documents', smallDocument);
    const ids = await copies(id, documentsWrittenTo);
    const found = await db
      .collection<DbRow>('nodes')
      .find({ document_id: { $in: ids }, node_type: 'section' })
      .toArray();
    // one of each document, so that neighbours in time are no neighbours in a document
    const sections = [...new Map(found.map((section) => [section.document_id, section])).values()];
    return async () => (i) => {
      const section = sections[i % sections.length];
      const { document_id, _id: parent_id } = section ?? { document_id: '', _id: '' };
      const body = { node_type: 'step', title: 'One more step', order: i, parent_id };
      return { method: 'POST', path: `/api/v1/documents/${document_id}/nodes`, body, key: home.key };
    };
  },
});

/** A draft of ten nodes, with its event through the outbox to whoever hears it. */
export const publish = httpRow({
  name: 'publish (10 nodes)',
  goal: 1.3,
  remark: 'with its event: outbox, bus, every service that hears it',
  requests: 500,
  floor: 'publish',
  same: 'shape',
  async prepare({ home, api, copies }) {
    const { id } = await api(home, 'POST', '/documents', smallDocument);
    return async (_side, count) => {
      const drafts = await copies(id, count);
      return (i) => ({ method: 'POST', path: `/api/v1/documents/${drafts[i]}/publish`, key: home.key });
    };
  },
  async settled({ db }, side) {
    const outbox = db.collection(side === 'ours' ? 'documents_outbox' : 'floor_outbox');
    return (await outbox.findOne({ pending: true })) === null;
  },
});
