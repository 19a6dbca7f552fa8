/** Reads and writes documents and their nodes in MongoDB, always within the organization of the caller. */
import { NotFound, Unavailable } from '#libs/contract';
import type { Actor, Store, Transaction } from '#libs/store';
import { organizationProfiles } from '../../identity/contract.ts';
import { scheduleUpdateEvent, type UpdateEventState } from '../rules/update-events.ts';
import { type DocumentRow, documents, type NodeRow } from './collections.ts';
import { assertPreconditions, type Preconditions } from './preconditions.ts';
import { type Search, scheduleReindex } from './search.ts';
import type { Trees } from './tree.ts';
import { matchUnchangedRow } from './update-events.ts';

/** The fields of a document's row that a change sets. */
export type Change = Partial<Omit<DocumentRow, '_id' | 'organization_id' | 'row_version'>>;

/** The result of `decide`: the change, and the reply, which is created from the changed document. */
export interface Decision<R> {
  change: Change;
  reply(document: DocumentRow): R | Promise<R>;
}

/** A change that does not depend on the document: one update matches, changes and returns it. */
export interface FastPath {
  /** The fields that the document must have. Otherwise the change runs as if there were no fast path. */
  match: Partial<Pick<DocumentRow, 'status' | 'parent_doc_id'>>;
  change(at: Date): Change;
}

/** A consistent snapshot of a document and its nodes. The nodes are in no particular order. */
export interface DocumentWithNodes {
  document: DocumentRow;
  nodes: NodeRow[];
}

/** The number of attempts to update a row that other replicas change at the same time. */
const maxAttempts = 50;

/** The stores of the other rows of a document. */
export interface RepositoryDeps {
  trees: Trees;
  search: Pick<Search, 'remove'>;
}

/** Creates the repository. */
export function documentRepository(store: Store, { trees, search }: RepositoryDeps, now: () => Date) {
  const rows = store.rows(documents);
  const profiles = store.read(organizationProfiles).unscoped();

  const repository = {
    /** Stores a new document with its nodes. */
    async create(actor: Actor, document: DocumentRow, tree: readonly NodeRow[]): Promise<void> {
      await store.transact(actor, async (tx) => {
        const row = { ...document, ...scheduleReindex(document, document.updated_at) };
        await rows.insertMany([row], { session: tx.session, lean: true });
        await trees.add(tree, tx);
      });
    },

    /** Returns a document without its nodes, or throws `NotFound`. */
    find,

    /** Returns a consistent snapshot of a document and its nodes, or throws `NotFound`. */
    findWithNodes(actor: Actor, id: string): Promise<DocumentWithNodes> {
      return store.transact(actor, async (tx) => {
        const document = await find(actor, id, tx);
        return { document, nodes: await trees.findAll(document, tx) };
      });
    },

    /**
     * Changes a document in one transaction and returns the reply of `decide`, or throws `NotFound`. Writers
     * of the same document in this process wait for each other before their transactions start. If `fastPath`
     * matches, the row is updated first; `decide` then adds events and other writes; its change is unused.
     */
    change<R>(
      actor: Actor,
      id: string,
      preconditions: Preconditions,
      decide: (document: DocumentRow, tx: Transaction, at: Date) => Promise<Decision<R>>,
      fastPath?: FastPath,
    ): Promise<R> {
      return store.withLock(id, () =>
        store.respond(actor, async (_, tx) => {
          const fastChange = fastPath && (await applyFastPath(actor, id, fastPath, tx));
          if (fastChange) {
            await checkPreconditions(fastChange.before, preconditions, tx);
            return (await decide(fastChange.before, tx, fastChange.after.updated_at)).reply(fastChange.after);
          }
          const document = await findAuthorized(actor, id, preconditions, tx);
          const at = now();
          const { change, reply } = await decide(document, tx, at);
          return reply(await write(document, change, at, tx));
        }),
      );
    },

    /**
     * Changes only the row of a document, in one update without a transaction, and returns the changed
     * document, or throws `NotFound`. If the row changed after `decide` saw it, the change is retried, so
     * `decide` may run several times. Throws `Unavailable` after 50 attempts.
     */
    changeRow(
      actor: Actor,
      id: string,
      preconditions: Preconditions,
      decide: (document: DocumentRow) => Promise<Change>,
    ): Promise<DocumentRow> {
      return store.withLock(id, async () => {
        for (let left = maxAttempts; left > 0; left -= 1) {
          const document = await find(actor, id);
          assertPreconditions(preconditions, document);
          const change = completeChange(document, await decide(document), now());
          const { matchedCount } = await rows.updateOne(matchUnchangedRow(document), change);
          if (matchedCount === 1) return { ...document, ...change };
        }
        throw Unavailable('Too many concurrent changes of this document; try again.', {
          headers: { 'Retry-After': '1' },
        });
      });
    },

    /** Writes a change of a document that the transaction has read. Returns the changed document. */
    write,

    /**
     * Returns a document within a transaction if the preconditions hold. Throws `NotFound`, the problem that
     * `authorize` returns, or `PreconditionFailed`.
     */
    findAuthorized,

    /** Copies a consistent snapshot of a document and its tree. The actor becomes the creator. */
    copy<R>(
      actor: Actor & { user_id: string },
      id: string,
      preconditions: Preconditions,
      toCopy: (original: DocumentRow, at: Date) => DocumentRow,
      reply: (copy: DocumentWithNodes) => Promise<R>,
    ): Promise<R> {
      return store.respond(actor, async (within, tx) => {
        const original = await findAuthorized(actor, id, preconditions, tx);
        const at = now();
        const document = toCopy(original, at);
        await repository.create(within, document, []);
        return reply({ document, nodes: await trees.copyTree(original, document, actor.user_id, at, tx) });
      });
    },

    /** Deletes a document with its nodes, in one transaction with `decide`, which may throw to prevent it. */
    remove(
      actor: Actor,
      id: string,
      preconditions: Preconditions,
      decide: (document: DocumentRow, tx: Transaction) => Promise<void>,
    ): Promise<void> {
      return store.withLock(id, () =>
        store.transact(actor, async (tx) => {
          const document = await findAuthorized(actor, id, preconditions, tx);
          await decide(document, tx);
          await rows.deleteOne({ _id: id }, { session: tx.session });
          await trees.removeAll(document, tx);
          await search.remove(id, tx);
        }),
      );
    },

    /** Returns true if the organization locks its published documents. */
    async locksPublished({ organization_id }: Actor, tx?: Transaction): Promise<boolean> {
      const within = tx ? { session: tx.session } : {};
      return (await profiles.one({ _id: organization_id }, within))?.lock_published ?? false;
    },

    /** Throws `NotFound`, or the problem that `authorize` returns for this document. */
    async check(actor: Actor, id: string, authorize: Preconditions['authorize']): Promise<void> {
      assertPreconditions({ authorize, ifMatch: undefined }, await find(actor, id));
    },
  };
  return repository;

  async function find({ organization_id }: Actor, id: string, tx?: Transaction): Promise<DocumentRow> {
    const document = await rows
      .findOne({ _id: id, organization_id }, null, tx ? { session: tx.session } : {})
      .lean();
    if (!document) throw NotFound();
    return document;
  }

  async function findAuthorized(
    actor: Actor,
    id: string,
    preconditions: Preconditions,
    tx: Transaction,
  ): Promise<DocumentRow> {
    const document = await find(actor, id, tx);
    await checkPreconditions(document, preconditions, tx);
    return document;
  }

  async function checkPreconditions(
    document: DocumentRow,
    preconditions: Preconditions,
    tx: Transaction,
  ): Promise<void> {
    await preconditions.loadRelated?.(document, tx);
    assertPreconditions(preconditions, document);
  }

  /** Updates the document, or returns undefined if it does not match. A later error rolls the update back. */
  async function applyFastPath(
    { organization_id }: Actor,
    _id: string,
    { match, change }: FastPath,
    { session }: Transaction,
  ): Promise<{ before: DocumentRow; after: DocumentRow } | undefined> {
    const at = now();
    const { row_version, ...set } = completeChange({ row_version: 0 }, change(at), at);
    const update = { $set: set, $inc: { row_version } };
    const before = await rows
      .findOneAndUpdate({ _id, organization_id, ...match }, update, { session })
      .lean();
    return before ? { before, after: { ...before, ...completeChange(before, change(at), at) } } : undefined;
  }

  async function write(
    document: DocumentRow,
    fields: Change,
    at: Date,
    { session }: Transaction,
  ): Promise<DocumentRow> {
    const change = completeChange(document, fields, at);
    await rows.updateOne({ _id: document._id }, change, { session });
    return { ...document, ...change };
  }
}

export type DocumentRepository = ReturnType<typeof documentRepository>;

/** Adds the fields that every change sets. */
function completeChange(
  document: Pick<DocumentRow, 'row_version'> & UpdateEventState,
  change: Change,
  at: Date,
) {
  const due = scheduleUpdateEvent(document, change, at);
  return {
    ...change,
    ...scheduleReindex(change, at),
    ...due,
    updated_at: at,
    row_version: document.row_version + 1,
  };
}
