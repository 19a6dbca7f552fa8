/** Creates, lists, shows, changes and closes requests for acknowledgement. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { InvalidRequest, id, listErrors, newId, parseCursor } from '#libs/contract';
import { getPageLanguage } from '#libs/html-page';
import { handle, type Route, toPage } from '#libs/http';
import { type Actor, isDuplicate } from '#libs/store';
import { DocumentNotPublished } from '../../documents/contract.ts';
import {
  AcknowledgementRequested,
  AcknowledgementRequestIsClosed,
  AcknowledgementRequestOpen,
  AcknowledgementRequestUpdated,
  closeAcknowledgementRequest,
  DocumentNotLocked,
  getAcknowledgementRequest,
  listAcknowledgementRequests,
  requestAcknowledgement,
  updateAcknowledgementRequest,
} from '../contract.ts';
import {
  getBaseline,
  getDueAt,
  isAcknowledgeable,
  isLocked,
  isOpen,
  toAudience,
} from '../rules/acknowledgement.ts';
import type { RequestRow } from '../store/acknowledgement-collections.ts';
import type { RequestState } from '../store/acknowledgement-requests.ts';
import type { DocumentState } from '../store/documents.ts';
import { selectAwaiting } from './awaiting.ts';
import { closeEnded, closeRequest } from './closing.ts';
import { resolveDepartmentNames } from './department-names.ts';
import { toRequest } from './presenters.ts';
import { type AcknowledgementDeps, countPeople, findRequest, getNamedDocument } from './requests.ts';
import type { AudienceInput } from './shapes.ts';

const position = z.tuple([id]);

/** Handles the operations on requests. */
export function requestHandlers(deps: AcknowledgementDeps): Route[] {
  const { store, documents, requests, members, now } = deps;
  return [
    handle(
      requestAcknowledgement,
      async ({ actor, body, authorize }) => {
        const create = store.respond(actor, async (within, tx) => {
          const document = await getNamedDocument(deps, within, body.document_id, 'body');
          authorize(document);
          await assertMembers(within, body.audience);
          const { row_version } = await assertRequestable(within, document);
          await closeEnded(deps, within, document, now());
          if (await requests.findOpen(within, document.family_id)) throw AcknowledgementRequestOpen();
          const statement = body.statement ?? (await getDefaultStatement(within, document));
          const terms = { ...body, statement, created_at: now(), departments_version: row_version };
          const request = createRequest(actor, document, terms);
          await requests.add(within, request);
          const created = toRequest(request, document);
          const summary = await documents.getSummary(within, document._id);
          const options = { organization_version: row_version };
          tx.publish(AcknowledgementRequested, { request: created, document: summary }, options);
          return created;
        });
        return create.catch((error: unknown) => {
          // of two concurrent requests, the unique index stops the second one
          throw isDuplicate(error) ? AcknowledgementRequestOpen() : error;
        });
      },
      {
        authorizeReplay: async ({ actor, body, authorize }) =>
          authorize(await getNamedDocument(deps, actor, body.document_id, 'body')),
      },
    ),

    handle(listAcknowledgementRequests, async ({ actor, query }) => {
      const { cursor, limit, document_id, status, awaiting } = query;
      const document =
        document_id === undefined ? undefined : await getNamedDocument(deps, actor, document_id, 'query');
      const [from] = parseCursor(cursor, position) ?? [];
      const filters = { family_id: document?.family_id, status: awaiting ? ('open' as const) : status };
      if (awaiting && status === 'closed') return [];
      const page = { from, limit: limit + 1 };
      const select = awaiting
        ? await selectAwaiting(deps, actor)
        : async (batch: readonly RequestState[]) => batch;
      const found = await requests.list(actor, filters, page, async (batch) =>
        select(await resolveBatch(actor, batch)),
      );
      const versions = await getVersions(actor, found);
      return toPage({
        found,
        limit,
        toItem: ({ request }) => toRequest(request, getVersion(versions, request)),
        position: (_, next) => [next.request._id],
      });
    }),

    handle(getAcknowledgementRequest, async ({ actor, params }) => {
      const { request, version } = await getRequest(actor, params.request_id);
      return {
        ...toRequest(request, version),
        totals: await countPeople(deps, actor, request, { request, version, now: now() }),
      };
    }),

    handle(updateAcknowledgementRequest, async ({ actor, params, body, authorize }) =>
      store.transact(actor, async (tx) => {
        const within = { ...actor, tx };
        const { request, version } = await getRequest(within, params.request_id);
        authorize(version);
        await assertMembers(within, body.audience);
        if (!isOpen(request, version)) throw AcknowledgementRequestIsClosed();
        const before = { audience: request.audience, due_days: request.due_days };
        const audience = body.audience ? toAudience(body.audience) : before.audience;
        const { due_days = before.due_days } = body;
        if (isDeepStrictEqual({ audience, due_days }, before)) return toRequest(request, version);
        const departments_version = body.audience
          ? (await documents.getOrganization(within)).row_version
          : request.departments_version;
        const changed = { ...request, audience, due_days };
        // a baseline is overdue once
        const isAnnounced = request.overdue_baseline_id === getBaseline(version).id;
        const overdue_at = isAnnounced ? undefined : getDueAt(changed, version);
        const update = { audience, departments_version, due_days, overdue_at };
        await requests.update(within, request, update);
        const updated = toRequest(changed, version);
        tx.publish(AcknowledgementRequestUpdated, { request: updated, before });
        return updated;
      }),
    ),

    handle(
      closeAcknowledgementRequest,
      async ({ actor, params, authorize }) =>
        store.respond(actor, async (within) => {
          const open = await getRequest(within, params.request_id);
          authorize(open.version);
          if (!isOpen(open.request, open.version)) throw AcknowledgementRequestIsClosed();
          return closeRequest(deps, within, open, now());
        }),
      {
        authorizeReplay: async ({ actor, params, authorize }) =>
          authorize((await getRequest(actor, params.request_id)).version),
      },
    ),
  ];

  function getRequest(actor: Actor, requestId: string) {
    return findRequest(deps, actor, requestId);
  }

  /** Throws unless the audience names only members; members who leave later stay in it. */
  async function assertMembers(actor: Actor, audience: AudienceInput | undefined): Promise<void> {
    const userIds = audience?.member_ids ?? [];
    const unknown = new Set(await members.findUnknown(actor, userIds));
    const message = 'The organization has no member with this id';
    const errors = userIds.flatMap((userId, at) =>
      unknown.has(userId) ? [{ path: `body/audience/member_ids/${at}`, message }] : [],
    );
    if (errors.length > 0) throw listErrors(InvalidRequest, errors);
  }

  /** Returns the organization, or throws unless the document can be acknowledged. */
  async function assertRequestable(actor: Actor, document: DocumentState) {
    if (document.status !== 'published') throw DocumentNotPublished();
    const organization = await documents.getOrganization(actor);
    if (!isLocked(document, organization) || !isAcknowledgeable(document)) throw DocumentNotLocked();
    return organization;
  }

  async function getDefaultStatement(actor: Actor, { language }: DocumentState): Promise<string> {
    return getPageLanguage(language ?? (await documents.getOrganization(actor)).language).words.statement;
  }

  /** The requests with the current names of their departments. */
  async function resolveBatch(actor: Actor, batch: readonly RequestState[]): Promise<RequestState[]> {
    const rows = batch.map(({ request }) => request);
    const resolved = await resolveDepartmentNames(documents, actor, rows);
    return batch.map(({ request, published }, at) => ({ request: resolved[at] ?? request, published }));
  }

  /** The published versions of requests, or those that were published last. */
  async function getVersions(
    actor: Actor,
    states: readonly RequestState[],
  ): Promise<ReadonlyMap<string, DocumentState>> {
    const versions = new Map<string, DocumentState>();
    for (const { request, published } of states)
      versions.set(request._id, published ?? (await documents.getLatest(actor, request.family_id)));
    return versions;
  }
}

function createRequest(
  { organization_id, user_id: created_by }: { organization_id: string; user_id: string },
  document: DocumentState,
  {
    audience,
    statement,
    due_days,
    created_at,
    departments_version,
  }: Pick<RequestRow, 'statement' | 'due_days' | 'created_at'> & {
    audience?: AudienceInput | undefined;
    departments_version: number;
  },
): RequestRow {
  const { family_id, share_epoch } = document;
  return {
    ...{ _id: newId(), organization_id, family_id, share_epoch, created_by, created_at },
    ...{ audience: toAudience(audience), statement, due_days, status: 'open', closed_at: null },
    ...{ departments_version, reader_count: 0 },
    requested_baseline_id: getBaseline(document).id,
    overdue_at: getDueAt({ due_days, created_at }, document),
  };
}

function getVersion(versions: ReadonlyMap<string, DocumentState>, { _id }: RequestRow): DocumentState {
  const version = versions.get(_id);
  if (!version) throw new Error(`The request ${_id} has no version`);
  return version;
}
