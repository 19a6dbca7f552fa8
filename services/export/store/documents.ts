/** The documents that are exported, read through the views of their owners. */
import { Unavailable } from '#libs/contract';
import type { Acting, Store } from '#libs/store';
import { documentNodes, documentStates } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';
import type { ExportDocument } from '../formats/document.ts';
import { exportable } from '../rules.ts';

/** How often a document that changes while it is read is read again. */
const tries = 5;

/** Reads one document with its whole tree, as it was at one moment; nothing for one that the actor cannot see. */
export type ReadDocument = (actor: Acting, id: string) => Promise<ExportDocument | undefined>;

/** A reader of whole documents: state, nodes, state again, until the two states are the same. */
export function documentReader(store: Pick<Store, 'read'>): ReadDocument {
  const states = store.read(documentStates);
  const nodes = store.read(documentNodes);
  const organizations = store.read(organizationProfiles).anywhere();

  return async ({ organization_id }, _id) => {
    const within = states.in(organization_id);
    let before = await within.one({ _id });
    for (let left = tries; left > 0; left -= 1) {
      if (!before) return undefined;
      const rows = await nodes.in(_id).many({});
      const [after, organization] = await Promise.all([
        within.one({ _id }),
        organizations.one({ _id: organization_id }),
      ]);
      if (after?.row_version === before.row_version)
        return exportable(before, rows, organization?.name ?? '');
      before = after;
    }
    throw Unavailable('The document is being changed at this moment: try again.', {
      headers: { 'Retry-After': '1' },
    });
  };
}
