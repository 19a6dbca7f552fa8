/** The library in MongoDB: documents and their nodes, always within the organization of who asks. */
import type { QueryFilter } from 'mongoose';
import { NotFound, PreconditionFailed, type Problem } from '#libs/contract';
import type { Acting, Store, Transaction } from '#libs/store';
import type { DocumentStatus } from '../shapes.ts';
import { type DocumentRow, documents, type NodeRow, nodes } from './collections.ts';

/** What must hold before a document is changed. */
export interface Conditions {
  /** The problem that keeps this actor from changing this document. */
  refuses(document: DocumentRow): Problem | undefined;
  /** ETags of which one must be the document's. */
  ifMatch: readonly string[] | undefined;
}

/** What a change does to the document's row. */
export type Change = Partial<Omit<DocumentRow, '_id' | 'organization_id' | 'row_version'>>;

/** A document with its nodes, in no order, as they were at one moment. */
export interface Whole {
  document: DocumentRow;
  nodes: NodeRow[];
}

/** A position in the list of documents. */
export interface Position {
  updated_at: Date;
  _id: string;
}

/** Reads and writes documents and nodes. */
export function library(store: Store, now: () => Date) {
  const rows = { documents: store.rows(documents), nodes: store.rows(nodes) };

  return {
    /** Keeps a new document with its nodes. */
    async create(acting: Acting, document: DocumentRow, tree: readonly NodeRow[]): Promise<void> {
      await store.transact(acting, async ({ session }) => {
        await rows.documents.insertMany([document], { session, lean: true });
        if (tree.length > 0) await rows.nodes.insertMany(tree, { session, lean: true });
      });
    },

    /** A document with all its nodes, consistent although others write; `NotFound`. */
    async whole(acting: Acting, id: string): Promise<Whole> {
      if (acting.tx) return wholeWithin(acting, id, acting.tx);
      const document = await find(acting, id);
      const tree = await rows.nodes.find({ document_id: id }).lean();
      const after = await find(acting, id);
      if (after.row_version === document.row_version) return { document, nodes: tree };
      return store.transact(acting, (tx) => wholeWithin(acting, id, tx));
    },

    /** A page of documents, the most recently updated first. Archived ones only when asked for. */
    async list(
      acting: Acting,
      of: { status: DocumentStatus | undefined; after: Position | undefined; limit: number },
    ): Promise<DocumentRow[]> {
      const { organization_id } = acting;
      const status = of.status ? [of.status] : ['draft' as const, 'published' as const];
      const filter: QueryFilter<DocumentRow> = { organization_id, status: { $in: status } };
      if (of.after) {
        const { updated_at, _id } = of.after;
        filter.$or = [{ updated_at: { $lt: updated_at } }, { updated_at, _id: { $lt: _id } }];
      }
      return rows.documents.find(filter).sort({ updated_at: -1, _id: -1 }).limit(of.limit).lean();
    },

    /**
     * Changes a document in one transaction: loads it (`NotFound`), asks the conditions, lets `decide` say what changes.
     * Writers into one document take turns within the process. Gives the document as it is then.
     */
    change(
      acting: Acting,
      id: string,
      { refuses, ifMatch }: Conditions,
      decide: (document: DocumentRow, tx: Transaction, at: Date) => Promise<Change>,
    ): Promise<DocumentRow> {
      return store.inTurn(id, () =>
        store.transact(acting, async (tx) => {
          const document = await find(acting, id, tx);
          const refused = refuses(document);
          if (refused) throw refused;
          if (ifMatch && !ifMatch.includes(etagOf(document))) throw PreconditionFailed();
          const at = now();
          const change = {
            ...(await decide(document, tx, at)),
            updated_at: at,
            row_version: document.row_version + 1,
          };
          await rows.documents.updateOne({ _id: id }, change, { session: tx.session });
          return { ...document, ...change };
        }),
      );
    },

    /** Throws what keeps this actor from changing this document: `NotFound`, or the problem that `refuses` gives. */
    async check(acting: Acting, id: string, refuses: Conditions['refuses']): Promise<void> {
      const refused = refuses(await find(acting, id));
      if (refused) throw refused;
    },

    /** A node of a document, within a transaction that changes it. */
    async node(document: DocumentRow, id: string, { session }: Transaction): Promise<NodeRow | undefined> {
      return (
        (await rows.nodes.findOne({ _id: id, document_id: document._id }, null, { session }).lean()) ??
        undefined
      );
    },

    async addNode(node: NodeRow, { session }: Transaction): Promise<void> {
      await rows.nodes.insertMany([node], { session, lean: true });
    },
  };

  async function find({ organization_id }: Acting, id: string, tx?: Transaction): Promise<DocumentRow> {
    const document = await rows.documents
      .findOne({ _id: id, organization_id }, null, tx ? { session: tx.session } : {})
      .lean();
    if (!document) throw NotFound();
    return document;
  }

  async function wholeWithin(acting: Acting, id: string, tx: Transaction): Promise<Whole> {
    const document = await find(acting, id, tx);
    return {
      document,
      nodes: await rows.nodes.find({ document_id: id }, null, { session: tx.session }).lean(),
    };
  }
}

export type Library = ReturnType<typeof library>;

/** The ETag of a document: it changes with any change of the document or its tree. */
export function etagOf(document: Pick<DocumentRow, 'row_version'>): string {
  return String(document.row_version);
}
