/** Writing: documents, nodes, publishing. */
import type { Row as DbRow } from '../baseline/handler.ts';
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

/** The title of a document of ten nodes, all of which are answered. */
export const updateDocument = httpRow({
  name: 'change a document (PATCH, 10 nodes)',
  goal: 2.5,
  remark: 'floor: one conditional update, no transaction',
  requests: 800,
  floor: 'updateDocument',
  same: 'shape',
  async prepare({ home, api, copies }) {
    const { id } = await api(home, 'POST', '/documents', smallDocument);
    const ids = await copies(id, documentsWrittenTo);
    return async () => (i) => {
      const body = { title: `A procedure, changed for the ${i}th time` };
      return { method: 'PATCH', path: `/api/v1/documents/${ids[i % ids.length]}`, body, key: home.key };
    };
  },
});

const organizations = 32;

/** A draft of ten nodes, with its event through the outbox to whoever hears it; in turn of so many organizations. */
function publishOf(name: string, goal: number, count: number) {
  return httpRow({
    name,
    goal,
    remark: 'with its event: outbox, bus, every service that hears it',
    requests: 512,
    floor: 'publish',
    same: 'shape',
    async prepare(stage) {
      const houses: { key: string; draft: string }[] = [];
      while (houses.length < count) {
        const house = await stage.register();
        const { id } = await stage.api(house, 'POST', '/documents', smallDocument);
        houses.push({ key: house.key, draft: id });
      }
      return async (_side, requests) => {
        const each = Math.ceil(requests / houses.length);
        const drafts = await Promise.all(houses.map(({ draft }) => stage.copies(draft, each)));
        return (i) => {
          const house = i % houses.length;
          const id = drafts[house]?.[Math.floor(i / houses.length)];
          return {
            method: 'POST',
            path: `/api/v1/documents/${id}/publish`,
            key: houses[house]?.key ?? '',
          };
        };
      };
    },
    async settled({ db }, side) {
      const outbox = db.collection(side === 'ours' ? 'documents_outbox' : 'floor_outbox');
      return (await outbox.findOne({ pending: true })) === null;
    },
  });
}

/** Publishing as it comes. */
export const publish = publishOf(`publish (10 nodes), ${organizations} organizations`, 1.3, organizations);

/** The same where all meet in one organization's rows. */
export const publishOfOne = publishOf('publish (10 nodes), one organization', 1.5, 1);
