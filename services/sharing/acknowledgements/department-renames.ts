/** Updates the open requests that name a department when it is renamed. */
import { on, type Subscriber } from '#libs/events';
import type { Store } from '#libs/store';
import { DepartmentRenamed } from '../../identity/events.ts';
import type { RequestStore } from '../store/acknowledgement-requests.ts';
import { type DepartmentNameDeps, updateDepartmentNames } from './department-names.ts';

/**
 * The subscriber. An event only names the department: it may arrive late, twice or after a later one. The new names
 * depend on the current state.
 */
export function followRenames({
  store,
  documents,
  requests,
}: Pick<DepartmentNameDeps, 'documents'> & {
  store: Pick<Store, 'processOnce'>;
  requests: Pick<RequestStore, 'findNaming' | 'update'>;
}): Subscriber[] {
  return [
    on(DepartmentRenamed, (event) =>
      store.processOnce(event, async (tx) => {
        const actor = { organization_id: event.organization_id, user_id: null, tx };
        const naming = await requests.findNaming(actor, event.data.before);
        await updateDepartmentNames({ documents, requests }, actor, naming);
      }),
    ),
  ];
}
