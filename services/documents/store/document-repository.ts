/** Reads and writes documents and their nodes in MongoDB, always within the organization of the caller. */
import { NotFound, Unavailable } from '#libs/contract';
import { type Actor, RowChanged, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { organizationProfiles } from '../../identity/contract.ts';
import { DocumentEdited } from '../events.ts';
import { toSummary } from '../presenters.ts';
import { addContributor } from '../rules/approval.ts';
import { isInPlaceEdit } from '../rules/writes.ts';
import type { Assets } from './assets.ts';
import { type DocumentRow, documents, type NodeRow } from './collections.ts';
import { type Change, completeChange, type Decision, type Updated } from './document-change.ts';
import { earlyReads, type WithEarlyRow } from './early-reads.ts';
import { assertPreconditions, type Preconditions } from './preconditions.ts';
import { type Search, scheduleReindex } from './search.ts';
import { type ChargedActor, chargeSize, type StorageCharge, type StorageCharges } from './storage-charges.ts';
import type { Trees } from './tree.ts';
import { matchUnchangedRow } from './update-events.ts';

/** A consistent snapshot of a document and its nodes. The nodes are in no particular order. */
export interface DocumentWithNodes {
  document: DocumentRow;
  nodes: NodeRow[];
}

/** The settings of an organization about publishing. */
export interface PublishSettings {
  locksPublished: boolean;
  requiresApproval: boolean;
}

/** The number of attempts to update a row that other replicas change at the same time. */
const maxAttempts = 50;

/** The stores of the other rows of a document. */
export interface RepositoryDeps {
  trees: Trees;
  search: Pick<Search, 'remove'>;
  charges: StorageCharges;
  assets: Pick<Assets, 'keepAll'>;
}

/** Creates the repository. Its functions join the transaction of the actor, if the actor has one. */
export function documentRepository(
  store: Store,
  { trees, search, charges, assets }: RepositoryDeps,
  now: () => Date,
) {
  const rows = store.collection(documents);
  const profiles = store.read(organizationProfiles).unscoped();
  const readEarly = earlyReads(store);

  return {
    /**
     * Runs `work`, which changes a document, in one transaction and returns its reply, as `store.respond`
     * does. Writers of the same document in this process wait for each other before their transactions start.
     * `work` passes on `within`, the actor with the transaction: without it, `update` would wait for `work`.
     */
    async respond<A extends Actor, R>(
      actor: A,
      id: string,
      work: (within: A & ChargedActor & { tx: Transaction }, tx: Transaction) => Promise<R>,
    ): Promise<R> {
      const charged = await prepareCharge(actor);
      return store.withLock(id, () => store.respond(charged, work));
    },

    /**
     * Like `respond`, but `update` in `work` decides with the row that was read before the transaction. If the row has
     * changed when it is written, the transaction is retried and reads the row itself. If documents are charged, it is
     * always read in the transaction, because a recount changes `charged_blocks` without `row_version`.
     */
    async respondWithEarlyRead<A extends Actor, R>(
      actor: A,
      id: string,
      work: (within: A & ChargedActor & WithEarlyRow & { tx: Transaction }, tx: Transaction) => Promise<R>,
    ): Promise<R> {
      const charged = await prepareCharge(actor);
      const key = { _id: id, organization_id: actor.organization_id };
      const prepare = async () => (charged.charge.isLimited ? work : readEarly(key, work));
      return store.withLock(id, async () => store.respond(charged, await prepare()));
    },

    /** Returns the actor of a request that stores a new document. Call it before the transaction. */
    prepareCharge,

    /**
     * Runs `work`, which stores a new document, in one transaction and returns its reply, as `store.respond` does.
     * If documents are charged, the requests of an organization in this process wait for each other.
     */
    respondWithNew<A extends ChargedActor, R>(
      actor: A,
      work: (within: A & { tx: Transaction }) => Promise<R>,
    ): Promise<R> {
      const respond = () => store.respond(actor, work);
      return actor.charge.isLimited
        ? store.withLock(`${actor.organization_id}:documents`, respond)
        : respond();
    },

    /** Stores a new document with its nodes. Without nodes and on an unlimited plan it needs no transaction. */
    create,

    /**
     * Returns a document without its nodes. Throws `NotFound`, what `authorize` throws, or
     * `PreconditionFailed`.
     */
    get,

    /** Returns a document without its nodes; undefined if the organization has no such document. */
    find,

    /** Returns a consistent snapshot of a document and its nodes, or throws `NotFound`. */
    getWithNodes(actor: Actor, id: string): Promise<DocumentWithNodes> {
      return store.transact(actor, async (tx) => {
        const document = await get({ ...actor, tx }, id);
        return { document, nodes: await trees.findAll(document, tx) };
      });
    },

    /**
     * Changes the row of a document as `decide` says and returns the changed document. Throws like `get`. In
     * a transaction, `decide` may also write other rows. Without one, this is a single conditional update: if
     * the row changed since `decide` saw it, `decide` runs again, and after 50 attempts `Unavailable` is thrown.
     * The first in-place edit of a published version also publishes `document.edited`.
     */
    async update<D extends Decision>(
      actor: Updater,
      id: string,
      preconditions: Preconditions,
      decide: (document: DocumentRow, at: Date) => Promise<D>,
    ): Promise<Updated<D>> {
      const attempt = () => tryUpdate(actor, id, preconditions, decide);
      // in a transaction, MongoDB reports a conflict, and the whole transaction is retried
      const updated = await (actor.tx ? attempt() : store.withLock(id, () => retry(attempt)));
      if (updated) return updated;
      throw Unavailable('Too many concurrent changes of this document; try again.', {
        headers: { 'Retry-After': '1' },
      });
    },

    /** Stores `copy`, a new document or version, with copies of the nodes of `original`, and returns the new nodes. */
    copy(actor: ChargedActor, original: DocumentRow, copy: DocumentRow): Promise<NodeRow[]> {
      return store.transact(actor, async (tx) => {
        await create({ ...actor, tx }, copy, []);
        const nodes = await trees.copyTree(original, copy, copy.created_at, tx);
        const assetIds = nodes.flatMap(({ asset_ids = [] }) => asset_ids);
        await assets.keepAll(actor, assetIds, tx);
        return nodes;
      });
    },

    /** Deletes a document, which the same transaction has read, with its nodes and its search words. */
    async delete({ tx }: Actor & { tx: Transaction }, document: DocumentRow): Promise<void> {
      await rows.deleteOne({ _id: document._id }, { session: tx.session });
      await charges.release(document, tx);
      await trees.removeAll(document, tx);
      await search.remove(document._id, tx);
    },

    /** Returns the settings of the organization about publishing. */
    async getPublishSettings({ organization_id, tx }: Actor): Promise<PublishSettings> {
      const profile = await profiles.one({ _id: organization_id }, toSessionOptions(tx));
      return {
        locksPublished: profile?.lock_published ?? false,
        requiresApproval: profile?.approval_required ?? false,
      };
    },
  };

  async function prepareCharge<A extends Actor>(actor: A): Promise<A & ChargedActor> {
    return { ...actor, charge: await charges.prepare(actor) };
  }

  async function create(actor: ChargedActor, document: DocumentRow, tree: readonly NodeRow[]): Promise<void> {
    const mark = scheduleReindex({ title: document.title, changesText: true }, document.updated_at);
    const insert = async (tx?: Transaction) => {
      const charged = await actor.charge.add(document, tx);
      await rows.insertOne({ ...document, ...mark, ...charged }, toSessionOptions(tx));
    };
    if (tree.length === 0 && !actor.charge.isLimited) await insert(actor.tx);
    else
      await store.transact(actor, async (tx) => {
        await insert(tx);
        await trees.add(tree, tx);
      });
  }

  async function find({ organization_id, tx }: Actor, id: string): Promise<DocumentRow | undefined> {
    return (await rows.findOne({ _id: id, organization_id }, toSessionOptions(tx))) ?? undefined;
  }

  async function get(actor: Actor, id: string, preconditions?: Preconditions): Promise<DocumentRow> {
    const document = await find(actor, id);
    if (!document) throw NotFound();
    if (preconditions) assertPreconditions(preconditions, document);
    return document;
  }

  /** Returns undefined if the row changed after it was read. */
  async function tryUpdate<D extends Decision>(
    actor: Updater,
    id: string,
    preconditions: Preconditions,
    decide: (document: DocumentRow, at: Date) => Promise<D>,
  ): Promise<Updated<D> | undefined> {
    const earlyRow = actor.earlyRow?._id === id ? actor.earlyRow : undefined;
    if (earlyRow) assertPreconditions(preconditions, earlyRow);
    const document = earlyRow ?? (await get(actor, id, preconditions));
    const at = now();
    const { change, isUnchanged, changesText, result } = await decide(document, at);
    if (isUnchanged) return { document, result };
    const charged = await chargeSize(actor, document, change);
    const contributor = addContributor(document, change, actor.user_id);
    const fields = completeChange(document, { ...change, ...charged, ...contributor }, at, changesText);
    const unchanged = matchUnchangedRow(document);
    const changed = { ...document, ...fields };
    const write = async (tx?: Transaction) => {
      const { matchedCount } = await rows.updateOne(unchanged, { $set: fields }, toSessionOptions(tx));
      if (matchedCount === 0 && earlyRow) throw new RowChanged();
      if (matchedCount === 0) return undefined;
      if (isFirstEdit(document, change)) tx?.publish(DocumentEdited, { document: toSummary(changed) });
      return { document: changed, result };
    };
    return isFirstEdit(document, change) ? store.transact(actor, write) : write(actor.tx);
  }
}

/** Returns true for the first in-place edit of a published version, which is published as `document.edited`. */
function isFirstEdit(document: DocumentRow, change: Change): boolean {
  return document.content_hash !== null && isInPlaceEdit(document, change);
}

/** The actor of an update. Only one with a charge may change the size of a document. */
type Updater = Actor & WithEarlyRow & { readonly charge?: StorageCharge };

export type DocumentRepository = ReturnType<typeof documentRepository>;

/** Repeats `attempt` until it returns a value, at most `maxAttempts` times. */
async function retry<R>(attempt: () => Promise<R | undefined>): Promise<R | undefined> {
  for (let left = maxAttempts; left > 0; left -= 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  return undefined;
}
