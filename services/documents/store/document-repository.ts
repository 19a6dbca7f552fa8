/** Documents and their nodes in MongoDB, always within the organization of the caller. */
import { NotFound, Unavailable } from '#libs/contract';
import type { Actor, Store, Transaction } from '#libs/store';
import { organizationProfiles } from '../../identity/contract.ts';
import { scheduleUpdateEvent, type UpdateEventState } from '../rules/update-events.ts';
import { type DocumentRow, documents, type NodeRow } from './collections.ts';
import { assertPreconditions, type Preconditions } from './preconditions.ts';
import { marks, type Search } from './search.ts';
import type { Trees } from './tree.ts';
import { matchUnchangedRow } from './update-events.ts';

/** What a change does to the document's row. */
export type Change = Partial<Omit<DocumentRow, '_id' | 'organization_id' | 'row_version'>>;

/** What a change does, and how the request is answered: from the document as it is after the change. */
export interface Decided<R> {
  change: Change;
  reply(document: DocumentRow): R | Promise<R>;
}

/** A change that is known before the document is: one update finds the document as it must be, changes it and reads it. */
export interface FastPath {
  /** What the document must be like; where it is not, it is read first, as for any other change. */
  from: Partial<Pick<DocumentRow, 'status' | 'parent_doc_id'>>;
  change(at: Date): Change;
}

/** A document with its nodes, in no order, as they were at one moment. */
export interface Whole {
  document: DocumentRow;
  nodes: NodeRow[];
}

/** How often the update of a row is tried while other replicas are faster. */
const tries = 50;

/** What else belongs to a document. */
export interface Parts {
  trees: Trees;
  search: Pick<Search, 'forget'>;
}

/** Reads and writes documents. */
export function documentRepository(store: Store, { trees, search }: Parts, now: () => Date) {
  const rows = store.rows(documents);
  const profiles = store.read(organizationProfiles).unscoped();

  const made = {
    /** Keeps a new document with its nodes. */
    async create(acting: Actor, document: DocumentRow, tree: readonly NodeRow[]): Promise<void> {
      await store.transact(acting, async (tx) => {
        const row = { ...document, ...marks(document, document.updated_at) };
        await rows.insertMany([row], { session: tx.session, lean: true });
        await trees.add(tree, tx);
      });
    },

    /** A document without its nodes; `NotFound`. */
    find,

    /** A document with all its nodes as they are at one moment; `NotFound`. */
    whole(acting: Actor, id: string): Promise<Whole> {
      return store.transact(acting, async (tx) => {
        const document = await find(acting, id, tx);
        return { document, nodes: await trees.all(document, tx) };
      });
    },

    /**
     * Changes a document (`NotFound`) in one transaction and gives the reply of `decide`. Writers into one document wait for
     * each other before their transactions begin. Where the change is foreseen, `decide` only says what comes with it.
     */
    change<R>(
      acting: Actor,
      id: string,
      conditions: Preconditions,
      decide: (document: DocumentRow, tx: Transaction, at: Date) => Promise<Decided<R>>,
      foreseen?: FastPath,
    ): Promise<R> {
      return store.withLock(id, () =>
        store.respond(acting, async (_, tx) => {
          const found = foreseen && (await changed(acting, id, foreseen, tx));
          if (found) {
            await checkPreconditions(found.before, conditions, tx);
            return (await decide(found.before, tx, found.after.updated_at)).reply(found.after);
          }
          const document = await findAuthorized(acting, id, conditions, tx);
          const at = now();
          const { change, reply } = await decide(document, tx, at);
          return reply(await write(document, change, at, tx));
        }),
      );
    },

    /**
     * Changes nothing but the row of a document (`NotFound`) in one update without a transaction. The update finds the
     * version that `decide` saw or is tried again, so `decide` may run several times. Gives the document after it.
     */
    changeRow(
      acting: Actor,
      id: string,
      conditions: Preconditions,
      decide: (document: DocumentRow) => Promise<Change>,
    ): Promise<DocumentRow> {
      return store.withLock(id, async () => {
        for (let left = tries; left > 0; left -= 1) {
          const document = await find(acting, id);
          assertPreconditions(conditions, document);
          const change = next(document, await decide(document), now());
          const { matchedCount } = await rows.updateOne(matchUnchangedRow(document), change);
          if (matchedCount === 1) return { ...document, ...change };
        }
        throw Unavailable('Too many concurrent changes of this document; try again.', {
          headers: { 'Retry-After': '1' },
        });
      });
    },

    /** Writes a change of a document as the transaction has read it; gives the document as it is then. */
    write,

    /** A document within a transaction, if the conditions hold: `NotFound`, what `refuses` says, `PreconditionFailed`. */
    findAuthorized: findAuthorized,

    /** Copies a document with its tree as it is at one moment; whoever acts is the creator of all of it. Gives the reply. */
    copy<R>(
      acting: Actor & { user_id: string },
      id: string,
      conditions: Preconditions,
      make: (original: DocumentRow, at: Date) => DocumentRow,
      reply: (copy: Whole) => Promise<R>,
    ): Promise<R> {
      return store.respond(acting, async (within, tx) => {
        const original = await findAuthorized(acting, id, conditions, tx);
        const at = now();
        const document = make(original, at);
        await made.create(within, document, []);
        return reply({ document, nodes: await trees.copyTree(original, document, acting.user_id, at, tx) });
      });
    },

    /** Removes a document with its nodes for good, in the transaction of what `decide` does; it may throw what forbids it. */
    remove(
      acting: Actor,
      id: string,
      conditions: Preconditions,
      decide: (document: DocumentRow, tx: Transaction) => Promise<void>,
    ): Promise<void> {
      return store.withLock(id, () =>
        store.transact(acting, async (tx) => {
          const document = await findAuthorized(acting, id, conditions, tx);
          await decide(document, tx);
          await rows.deleteOne({ _id: id }, { session: tx.session });
          await trees.clear(document, tx);
          await search.forget(id, tx);
        }),
      );
    },

    /** Whether the organization locks its published documents. */
    async locksPublished({ organization_id }: Actor, tx?: Transaction): Promise<boolean> {
      const within = tx ? { session: tx.session } : {};
      return (await profiles.one({ _id: organization_id }, within))?.lock_published ?? false;
    },

    /** Throws what keeps this actor from changing this document: `NotFound`, or the problem that `authorize` gives. */
    async check(acting: Actor, id: string, authorize: Preconditions['authorize']): Promise<void> {
      assertPreconditions({ authorize, ifMatch: undefined }, await find(acting, id));
    },
  };
  return made;

  async function find({ organization_id }: Actor, id: string, tx?: Transaction): Promise<DocumentRow> {
    const document = await rows
      .findOne({ _id: id, organization_id }, null, tx ? { session: tx.session } : {})
      .lean();
    if (!document) throw NotFound();
    return document;
  }

  async function findAuthorized(
    acting: Actor,
    id: string,
    conditions: Preconditions,
    tx: Transaction,
  ): Promise<DocumentRow> {
    const document = await find(acting, id, tx);
    await checkPreconditions(document, conditions, tx);
    return document;
  }

  async function checkPreconditions(
    document: DocumentRow,
    conditions: Preconditions,
    tx: Transaction,
  ): Promise<void> {
    await conditions.finds?.(document, tx);
    assertPreconditions(conditions, document);
  }

  /** Changes a document that is as foreseen; what is thrown later takes it back. */
  async function changed(
    { organization_id }: Actor,
    _id: string,
    { from, change }: FastPath,
    { session }: Transaction,
  ): Promise<{ before: DocumentRow; after: DocumentRow } | undefined> {
    const at = now();
    const { row_version, ...set } = next({ row_version: 0 }, change(at), at);
    const update = { $set: set, $inc: { row_version } };
    const before = await rows.findOneAndUpdate({ _id, organization_id, ...from }, update, { session }).lean();
    return before ? { before, after: { ...before, ...next(before, change(at), at) } } : undefined;
  }

  async function write(
    document: DocumentRow,
    options: Change,
    at: Date,
    { session }: Transaction,
  ): Promise<DocumentRow> {
    const change = next(document, options, at);
    await rows.updateOne({ _id: document._id }, change, { session });
    return { ...document, ...change };
  }
}

export type DocumentRepository = ReturnType<typeof documentRepository>;

/** A change with what every change brings. */
function next(document: Pick<DocumentRow, 'row_version'> & UpdateEventState, change: Change, at: Date) {
  const due = scheduleUpdateEvent(document, change, at);
  return { ...change, ...marks(change, at), ...due, updated_at: at, row_version: document.row_version + 1 };
}
