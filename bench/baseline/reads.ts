/** Reads of the baseline: the same rows through the same views as the services. */
import { createHash } from 'node:crypto';
import { type ResolvedLink, representations } from '../../services/sharing/representations.ts';
import type { Db, Handler, Row } from './handler.ts';
import { renderPage } from './pages.ts';
import { documentText, documentTextFromBson, embedText, summary } from './trees.ts';

/** Creates the handlers that only read, by name. */
export function readHandlers(db: Db) {
  const documents = db.collection<Row>('documents');
  const states = db.collection<Row>('document_states');
  const publicNodes = db.collection<Row>('document_nodes');
  const profiles = db.collection<Row>('organization_profiles');
  const tokens = db.collection<Row>('share_tokens');
  const templates = db.collection<Row>('templates');
  const cache = new Map<string, Uint8Array>();

  /** Reads a document with its nodes. Reads again if the document changed in between. */
  async function readTree(organization_id: string, _id: string, from: string) {
    for (;;) {
      const document = await documents.findOne({ _id, organization_id });
      const rows = await db.collection<Row>(from).find({ document_id: _id }).toArray();
      const after = await documents.findOne({ _id, organization_id });
      if (!document || !after) throw new Error('The document was not found');
      if (after.row_version === document.row_version) return { document, rows };
    }
  }

  /** Resolves a public link to its published document and organization. Throws if the link is invalid. */
  async function resolveLink(slug: string, token: string): Promise<{ document: Row; organization: Row }> {
    const hash = createHash('sha256').update(token).digest('base64url');
    const [organization, storedToken] = await Promise.all([
      profiles.findOne({ slug }),
      tokens.findOne({ hash }),
    ]);
    if (!storedToken) throw new Error('The link is invalid');
    const { organization_id, family_id, share_epoch } = storedToken;
    const document = await states.findOne({ organization_id, family_id, status: 'published' });
    if (!document || !organization) throw new Error('The link is invalid');
    if (organization._id !== organization_id || document.share_epoch !== share_epoch)
      throw new Error('The link is invalid');
    return { document, organization };
  }

  /** Reads the tree of a public link. Throws if the document's version changed during the read. */
  async function readLinkTree(slug: string, token: string) {
    const { document } = await resolveLink(slug, token);
    const rows = await publicNodes.find({ document_id: document._id }).toArray();
    const after = await states.findOne({ organization_id: document.organization_id, _id: document._id });
    if (after?.row_version !== document.row_version) throw new Error('The document changed during the read');
    return { document, rows };
  }

  async function renderServicePage({ document, organization }: { document: Row; organization: Row }) {
    const rows = await publicNodes.find({ document_id: document._id }).toArray();
    // the rows come from the same views, but are not validated
    const found = { document, organization } as unknown as ResolvedLink;
    return Buffer.from([...representations.html.render(found, rows as never)].join(''));
  }

  const handlers = {
    /** A request without authentication and database access. */
    nothing: async () => ({ status: 200, text: '{}' }),

    emptyList: async ({ principal: { organization_id } }) => {
      const rows = await templates.find({ organization_id }).sort({ _id: -1 }).limit(101).toArray();
      return { status: 200, text: JSON.stringify(rows) };
    },

    readTree: async ({ parts: [, id = ''], principal }) => {
      const { document, rows } = await readTree(principal.organization_id, id, 'nodes');
      return { status: 200, text: documentText(document, rows), headers: toETag(document) };
    },

    readTreeOfBson: async ({ parts: [, id = ''], principal }) => {
      const { document, rows } = await readTree(principal.organization_id, id, 'baseline_nodes');
      return { status: 200, text: documentTextFromBson(document, rows), headers: toETag(document) };
    },

    list: async ({ query, principal: { organization_id } }) => {
      const limit = Number(query.get('limit'));
      const rows = await documents
        .find({ organization_id, status: { $in: ['draft', 'published'] } })
        .sort({ updated_at: -1, _id: -1 })
        .limit(limit + 1)
        .toArray();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const cursor = Buffer.from(JSON.stringify([last?.updated_at, last?._id])).toString('base64url');
      const next = `</api/v1/documents?limit=${limit}&cursor=${cursor}>; rel="next"`;
      return { status: 200, text: JSON.stringify(page.map(summary)), headers: { Link: next } };
    },

    embed: async ({ parts: [, slug = '', token = ''] }) => {
      const { document } = await resolveLink(slug, token);
      const tag = `${document._id}/${document.row_version}`;
      const text =
        cache.get(tag) ??
        Buffer.from(embedText(document, await publicNodes.find({ document_id: document._id }).toArray()));
      cache.set(tag, text);
      return { status: 200, text, headers: { ETag: `"${tag}"` } };
    },

    /** The same bytes as the service's page, rendered once. */
    embedPage: async ({ parts: [, slug = '', token = ''] }) => {
      const found = await resolveLink(slug, token);
      const tag = `page/${found.document._id}/${found.document.row_version}`;
      const text = cache.get(tag) ?? (await renderServicePage(found));
      cache.set(tag, text);
      return { status: 200, text, headers: { ETag: `"${tag}"` } };
    },

    embedCold: async ({ parts: [, slug = '', token = ''] }) => {
      const { document, rows } = await readLinkTree(slug, token);
      return { status: 200, text: embedText(document, rows), headers: toETag(document) };
    },

    embedPageCold: async ({ parts: [, slug = '', token = ''] }) => {
      const { document, rows } = await readLinkTree(slug, token);
      return { status: 200, text: renderPage(document, rows), headers: toETag(document) };
    },
  } satisfies Record<string, Handler>;
  return handlers;
}

function toETag(document: Row): Record<string, string> {
  return { ETag: `"${document.row_version}"` };
}
