/** Records acknowledgements of members and readers, and lists them. */
import { z } from 'zod';
import { InvalidRequest, id, listErrors, parseCursor } from '#libs/contract';
import { handle, type Route, reply, toPage } from '#libs/http';
import type { Actor } from '#libs/store';
import { ContentChanged } from '../../documents/contract.ts';
import { getVisibleUser } from '../../identity/contract.ts';
import { AcknowledgementRequestIsClosed, createAcknowledgement, listAcknowledgements } from '../contract.ts';
import type { CountAcknowledgement } from '../metrics.ts';
import { refreshDepartmentNames } from './department-names.ts';
import { toAcknowledgement } from './presenters.ts';
import { recordAcknowledgement, retryDuplicate } from './recording.ts';
import { type AcknowledgementDeps, getNamedDocument } from './requests.ts';

const position = z.tuple([id]);

/** Handles the operations of members on acknowledgements. */
export function acknowledgementHandlers(
  deps: AcknowledgementDeps & { count: CountAcknowledgement },
): Route[] {
  const { store, requests, members, acknowledgements, now, count } = deps;
  return [
    handle(
      createAcknowledgement,
      async ({ actor, body, authorize }) => {
        const acknowledge = () =>
          store.respond(actor, async (within, tx) => {
            const document = await getNamedDocument(deps, within, body.document_id, 'body');
            const found = await requests.findOpen(within, document.family_id);
            if (!found) throw AcknowledgementRequestIsClosed();
            const open = await refreshDepartmentNames(deps, within, found);
            authorize({ isAsked: await members.isAsked(within, open.request.audience) });
            const person = { id: actor.user_id, kind: 'member' as const, external_id: null };
            const known = await acknowledgements.find(within, {
              ...{ request_id: open.request._id, person_id: person.id, document_id: body.document_id },
            });
            if (known?.content_hash === body.content_hash)
              return reply(toAcknowledgement(known), { isExisting: true });
            if (open.published._id !== body.document_id) throw ContentChanged();
            const row = await recordAcknowledgement(deps, { ...within, tx }, open, {
              ...{ person, content_hash: body.content_hash, at: now() },
            });
            return reply(toAcknowledgement(row), {});
          });
        const result = await retryDuplicate(acknowledge);
        if (!result.isExisting) count({ kind: 'member' });
        return result;
      },
      // a stored response is the caller's own acknowledgement
      { authorizeReplay: async ({ authorize }) => authorize({ isAsked: true }) },
    ),

    handle(listAcknowledgements, async ({ actor, query }) => {
      const { cursor, limit, document_id, request_id } = query;
      if (document_id !== undefined) await getNamedDocument(deps, actor, document_id, 'query');
      if (request_id !== undefined) await assertRequest(actor, request_id);
      const [from] = parseCursor(cursor, position) ?? [];
      const filters = { document_id, request_id, person_id: getVisibleUser(actor) };
      const found = await acknowledgements.list(actor, filters, { from, limit: limit + 1 });
      return toPage({ found, limit, toItem: toAcknowledgement, position: (_, next) => [next._id] });
    }),
  ];

  async function assertRequest(actor: Actor, requestId: string): Promise<void> {
    if (await requests.find(actor, requestId)) return;
    const message = 'The organization has no request with this id';
    throw listErrors(InvalidRequest, [{ path: 'query/request_id', message }]);
  }
}
