/** When a department is renamed, updates the open requests that name it. */
import { on, type Subscriber } from '#libs/events';
import type { Store } from '#libs/store';
import { DepartmentRenamed } from '../../identity/events.ts';
import type { RequestStore } from '../store/acknowledgement-requests.ts';
import { type DepartmentNameDeps, updateDepartmentNames } from './department-names.ts';

/**
 * The subscriber. Events may be late, repeated or out of order, so the old name in an event only selects requests; the
 * new names come from the current state.
 */
export function followRenames({
  store,
  documents,
  requests,
}: Pick<DepartmentNameDeps, 'documents'> & {
  store: Pick<Store, 'processOnce'>;
  requests: Pick<RequestStore, 'findWithDepartment' | 'update'>;
}): Subscriber[] {
  return [
    on(DepartmentRenamed, (event) =>
      store.processOnce(event, async (tx) => {
        const actor = { organization_id: event.organization_id, user_id: null, tx };
        const withName = await requests.findWithDepartment(actor, event.data.before);
        await updateDepartmentNames({ documents, requests }, actor, withName);
      }),
    ),
  ];
}
