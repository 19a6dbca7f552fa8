/** Rows for writes: documents, nodes and publishing. */
import { createDocument as createDraft } from '#libs/testing';
import type { Row as DbRow } from '../baseline/handler.ts';
import { httpRow } from '../row.ts';
import { smallDocument } from './trees.ts';

/** Creates an empty document. */
export const createDocument = httpRow({
  name: 'create a document',
  goal: 3,
  remark: 'baseline: one insert, no transaction',
  requests: 1500,
  baselineHandler: 'createDocument',
  compare: 'shape',
  async prepare({ organization: { key } }) {
    const body = { title: 'A new procedure', version: '1.0', department: 'Operations' };
    return async () => () => ({ method: 'POST', path: '/api/v1/documents', body, key });
  },
});

/** More documents than connections, so that concurrent requests seldom write the same document. */
const documentCount = 256;

/** Creates a step below a section. */
export const createNode = httpRow({
  name: 'create a node',
  goal: 2.2,
  requests: 800,
  baselineHandler: 'createNode',
  compare: 'shape',
  async prepare({ organization, api, copyDocument, db }) {
    const { id } = await createDraft(api, organization.key, smallDocument);
    const ids = await copyDocument(id, documentCount);
    const found = await db
      .collection<DbRow>('nodes')
      .find({ document_id: { $in: ids }, node_type: 'section' })
      .toArray();
    // one section per document, so that concurrent requests write different documents
    const sections = [...new Map(found.map((section) => [section.document_id, section])).values()];
    return async () => (i) => {
      const section = sections[i % sections.length];
      const { document_id, _id: parent_id } = section ?? { document_id: '', _id: '' };
      const body = { node_type: 'step', title: 'One more step', order: i, parent_id };
      return { method: 'POST', path: `/api/v1/documents/${document_id}/nodes`, body, key: organization.key };
    };
  },
});

/** Updates the title of a document of ten nodes. The response contains all nodes. */
export const updateDocument = httpRow({
  name: 'update a document (PATCH, 10 nodes)',
  goal: 2.5,
  remark: 'baseline: one conditional update, no transaction',
  requests: 800,
  baselineHandler: 'updateDocument',
  compare: 'shape',
  async prepare({ organization, api, copyDocument }) {
    const { id } = await createDraft(api, organization.key, smallDocument);
    const ids = await copyDocument(id, documentCount);
    let count = 0;
    return async () => (i) => {
      // never the same title: equal values change nothing
      count += 1;
      const body = { title: `A procedure, changed for the ${count}th time` };
      return {
        method: 'PATCH',
        path: `/api/v1/documents/${ids[i % ids.length]}`,
        body,
        key: organization.key,
      };
    };
  },
});

const organizationCount = 32;

/**
 * Publishes drafts of ten nodes of `count` organizations in turn, including event delivery to all consumers.
 */
function createPublishRow(name: string, goal: number, count: number) {
  return httpRow({
    name,
    goal,
    remark: 'including its event: outbox, bus, all consuming services',
    requests: 512,
    baselineHandler: 'publish',
    compare: 'shape',
    async prepare(fixture) {
      const organizations: { key: string; draft: string }[] = [];
      while (organizations.length < count) {
        const organization = await fixture.register();
        const { id } = await createDraft(fixture.api, organization.key, smallDocument);
        organizations.push({ key: organization.key, draft: id });
      }
      return async (_side, requests) => {
        const each = Math.ceil(requests / organizations.length);
        const drafts = await Promise.all(organizations.map(({ draft }) => fixture.copyDocument(draft, each)));
        return (i) => {
          const organization = i % organizations.length;
          const id = drafts[organization]?.[Math.floor(i / organizations.length)];
          return {
            method: 'POST',
            path: `/api/v1/documents/${id}/publish`,
            key: organizations[organization]?.key ?? '',
          };
        };
      };
    },
    async isSettled({ db }, side) {
      const outbox = db.collection(side === 'service' ? 'documents_outbox' : 'baseline_outbox');
      return (await outbox.findOne({ pending: true })) === null;
    },
  });
}

/** Publishing by many organizations. */
export const publish = createPublishRow(
  `publish (10 nodes), ${organizationCount} organizations`,
  1.3,
  organizationCount,
);

/** Publishing by one organization, so that all requests write the same organization's rows. */
export const publishOneOrganization = createPublishRow('publish (10 nodes), one organization', 1.5, 1);
