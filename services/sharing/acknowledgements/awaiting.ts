/** Selects the requests that await the acknowledgement of a member. */
import type { Actor } from '#libs/store';
import { isAcknowledged, isAsked } from '../rules/acknowledgement.ts';
import type { RequestState } from '../store/acknowledgement-requests.ts';
import type { AcknowledgementDeps } from './requests.ts';

/** Returns the function that keeps the requests that await the acknowledgement of the actor. */
export async function selectAwaiting(
  { members, acknowledgements }: Pick<AcknowledgementDeps, 'members' | 'acknowledgements'>,
  actor: Actor & { user_id: string },
) {
  const { user_id } = actor;
  const department = await members.getDepartment(actor);
  return async (batch: readonly RequestState[]) => {
    const asking = batch.filter(
      ({ request }) => department !== undefined && isAsked(request.audience, { user_id, department }),
    );
    const requestIds = asking.map(({ request }) => request._id);
    const made = requestIds.length > 0 ? await acknowledgements.findOf(actor, user_id, requestIds) : [];
    return asking.filter(
      ({ request, published }) =>
        !made.some(
          ({ request_id, baseline_id }) =>
            request_id === request._id &&
            published !== undefined &&
            isAcknowledged({ baselineId: baseline_id }, published),
        ),
    );
  };
}
