/** Compares a version of a document with another one. */
import { json } from '#libs/contract';
import { handle, reply } from '#libs/http';
import type { Store, Transaction } from '#libs/store';
import { compareVersions, DiffTooLarge, VersionsUnrelated } from './contract.ts';
import { maxContentBytes } from './rules/hierarchy.ts';
import { findPrecedingVersion } from './rules/lifecycle.ts';
import type { DocumentRow } from './store/collections.ts';
import type { Families } from './store/families.ts';
import { toEtag } from './store/preconditions.ts';
import type { Trees } from './store/tree.ts';
import { type ComparedVersion, compareDocuments } from './version-diff.ts';

/** The dependencies of `comparisonHandlers`. */
export interface ComparisonHandlerDeps {
  store: Store;
  families: Families;
  trees: Trees;
}

/** Two versions, of which `from` may be missing. */
interface Versions<Version> {
  from: Version | undefined;
  to: Version;
}

/** Handles `compareVersions`. */
export function comparisonHandlers({ store, families, trees }: ComparisonHandlerDeps) {
  return [
    handle(compareVersions, async ({ actor, params: { doc_id }, query, call }) => {
      // one snapshot of both versions
      const { etag, versions } = await store.transact(actor, async (tx) => {
        const family = await families.getVersions({ ...actor, tx }, doc_id);
        const found = selectVersions(family, doc_id, query.against);
        const etag = getDiffEtag(found);
        if (call.hasCurrent(etag)) return { etag };
        assertComparable(found);
        return { etag, versions: await readNodes(found, tx) };
      });
      // the response of an ETag that the client has is empty
      const bytes = versions ? await compareDocuments(versions.from, versions.to) : Buffer.alloc(0);
      return reply(json(bytes), { etag });
    }),
  ];

  async function readNodes(
    { from, to }: Versions<DocumentRow>,
    tx: Transaction,
  ): Promise<Versions<ComparedVersion>> {
    const read = async (document: DocumentRow) => ({ document, nodes: await trees.findWords(document, tx) });
    return { from: from && (await read(from)), to: await read(to) };
  }
}

/** Returns the version of the request, and the one with this id, or else the preceding one. */
function selectVersions(
  family: readonly DocumentRow[],
  id: string,
  against: string | undefined,
): Versions<DocumentRow> {
  const find = (wanted: string) => family.find(({ _id }) => _id === wanted);
  const to = find(id);
  if (!to) throw new Error('A document is not in its family');
  const from = against === undefined ? findPrecedingVersion(family, to) : find(against);
  if (against !== undefined && !from) throw VersionsUnrelated();
  return { from, to };
}

function assertComparable({ from, to }: Versions<DocumentRow>): void {
  if ((from?.content_bytes ?? 0) + to.content_bytes > maxContentBytes)
    throw DiffTooLarge(undefined, { extra: { limit_bytes: maxContentBytes } });
}

/** Returns the ETag of a diff. It changes with every change of one of the documents, and with another `from`. */
function getDiffEtag({ from, to }: Versions<DocumentRow>): string {
  return from ? `${toEtag(to)}-${from._id}-${toEtag(from)}` : toEtag(to);
}
