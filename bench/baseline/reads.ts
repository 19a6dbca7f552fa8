/** What the floor reads: the same rows through the same views as the services. */
import { createHash } from 'node:crypto';
import { type ResolvedLink, representations } from '../../services/sharing/representations.ts';
import type { Db, Handler, Row } from './handler.ts';
import { barePage } from './pages.ts';
import { documentText, documentTextOfBson, embedText, summary } from './trees.ts';

/** The handlers that only read, by name. */
export function reading(db: Db) {
  const documents = db.collection<Row>('documents');
  const states = db.collection<Row>('document_states');
  const publicNodes = db.collection<Row>('document_nodes');
  const profiles = db.collection<Row>('organization_profiles');
  const tokens = db.collection<Row>('share_tokens');
  const templates = db.collection<Row>('templates');
  const kept = new Map<string, Uint8Array>();

  /** A document with its nodes, read again when it changed in between. */
  async function whole(organization_id: string, _id: string, from: string) {
    for (;;) {
      const document = await documents.findOne({ _id, organization_id });
      const rows = await db.collection<Row>(from).find({ document_id: _id }).toArray();
      const after = await documents.findOne({ _id, organization_id });
      if (!document || !after) throw new Error('There is no such document');
      if (after.row_version === document.row_version) return { document, rows };
    }
  }

  /** The document that a public link opens, with its organization. */
  async function opened(slug: string, token: string): Promise<{ document: Row; organization: Row }> {
    const hash = createHash('sha256').update(token).digest('base64url');
    const [organization, held] = await Promise.all([profiles.findOne({ slug }), tokens.findOne({ hash })]);
    if (!held) throw new Error('There is no such link');
    const { organization_id, family_id, share_epoch } = held;
    const document = await states.findOne({ organization_id, family_id, status: 'published' });
    if (!document || !organization) throw new Error('There is no such link');
    if (organization._id !== organization_id || document.share_epoch !== share_epoch)
      throw new Error('There is no such link');
    return { document, organization };
  }

  /** What is behind a public link, read as it must be: between two looks at its version. */
  async function openedWhole(slug: string, token: string) {
    const { document } = await opened(slug, token);
    const rows = await publicNodes.find({ document_id: document._id }).toArray();
    const after = await states.findOne({ organization_id: document.organization_id, _id: document._id });
    if (after?.row_version !== document.row_version) throw new Error('It changed meanwhile');
    return { document, rows };
  }

  async function preparedPage({ document, organization }: { document: Row; organization: Row }) {
    const rows = await publicNodes.find({ document_id: document._id }).toArray();
    // the floor's rows are those of the views, unchecked
    const found = { document, organization } as unknown as ResolvedLink;
    return Buffer.from([...representations.html.render(found, rows as never)].join(''));
  }

  const handlers = {
    /** The bare request: no key, no database. */
    nothing: async () => ({ status: 200, text: '{}' }),

    emptyList: async ({ asker: { organization_id } }) => {
      const rows = await templates.find({ organization_id }).sort({ _id: -1 }).limit(101).toArray();
      return { status: 200, text: JSON.stringify(rows) };
    },

    readTree: async ({ parts: [, id = ''], asker }) => {
      const { document, rows } = await whole(asker.organization_id, id, 'nodes');
      return { status: 200, text: documentText(document, rows), headers: tagOf(document) };
    },

    readTreeOfBson: async ({ parts: [, id = ''], asker }) => {
      const { document, rows } = await whole(asker.organization_id, id, 'floor_nodes');
      return { status: 200, text: documentTextOfBson(document, rows), headers: tagOf(document) };
    },

    list: async ({ query, asker: { organization_id } }) => {
      const limit = Number(query.get('limit'));
      const rows = await documents
        .find({ organization_id, status: { $in: ['draft', 'published'] } })
        .sort({ updated_at: -1, _id: -1 })
        .limit(limit + 1)
        .toArray();
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const cursor = Buffer.from(JSON.stringify([last?.updated_at, last?._id])).toString('base64url');
      const next = `</api/v1/documents?limit=${limit}&cursor=${cursor}>; rel="next"`;
      return { status: 200, text: JSON.stringify(shown.map(summary)), headers: { Link: next } };
    },

    embed: async ({ parts: [, slug = '', token = ''] }) => {
      const { document } = await opened(slug, token);
      const tag = `${document._id}/${document.row_version}`;
      const text =
        kept.get(tag) ??
        Buffer.from(embedText(document, await publicNodes.find({ document_id: document._id }).toArray()));
      kept.set(tag, text);
      return { status: 200, text, headers: { ETag: `"${tag}"` } };
    },

    /** The very bytes of our page, prepared once. */
    embedPage: async ({ parts: [, slug = '', token = ''] }) => {
      const found = await opened(slug, token);
      const tag = `page/${found.document._id}/${found.document.row_version}`;
      const text = kept.get(tag) ?? (await preparedPage(found));
      kept.set(tag, text);
      return { status: 200, text, headers: { ETag: `"${tag}"` } };
    },

    embedCold: async ({ parts: [, slug = '', token = ''] }) => {
      const { document, rows } = await openedWhole(slug, token);
      return { status: 200, text: embedText(document, rows), headers: tagOf(document) };
    },

    embedPageCold: async ({ parts: [, slug = '', token = ''] }) => {
      const { document, rows } = await openedWhole(slug, token);
      return { status: 200, text: barePage(document, rows), headers: tagOf(document) };
    },
  } satisfies Record<string, Handler>;
  return handlers;
}

function tagOf(document: Row): Record<string, string> {
  return { ETag: `"${document.row_version}"` };
}
