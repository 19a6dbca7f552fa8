/** What the operations on acknowledgements share: their dependencies, lookups, and counting people. */
import { InvalidRequest, listErrors, NotFound } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import { getStatus } from '../rules/acknowledgement.ts';
import type { RequestRow } from '../store/acknowledgement-collections.ts';
import type { MemberReader } from '../store/acknowledgement-members.ts';
import type { ReaderStore, StatusContext } from '../store/acknowledgement-readers.ts';
import type { RequestStore } from '../store/acknowledgement-requests.ts';
import type { AcknowledgementStore } from '../store/acknowledgements.ts';
import type { DocumentReader, DocumentState } from '../store/documents.ts';
import { resolveDepartmentNames } from './department-names.ts';
import type { AcknowledgementRequestDetails } from './shapes.ts';

/** The dependencies of the operations on acknowledgements. */
export interface AcknowledgementDeps {
  store: Pick<Store, 'respond' | 'transact' | 'processOnce'>;
  documents: DocumentReader;
  requests: RequestStore;
  readers: ReaderStore;
  members: MemberReader;
  acknowledgements: AcknowledgementStore;
  now: () => Date;
}

/**
 * Returns a request of the organization, with the current names of its departments, and the version of its document, or
 * throws `NotFound`.
 */
export async function findRequest(
  { requests, documents }: Pick<AcknowledgementDeps, 'requests' | 'documents'>,
  actor: Actor,
  requestId: string,
): Promise<{ request: RequestRow; version: DocumentState }> {
  const state = await requests.find(actor, requestId);
  if (!state) throw NotFound();
  const { published } = state;
  const [request = state.request] = await resolveDepartmentNames(documents, actor, [state.request]);
  return { request, version: published ?? (await documents.getLatest(actor, request.family_id)) };
}

/** Returns the document that a field `document_id` of the body or the query names, or throws `InvalidRequest`. */
export async function getNamedDocument(
  { documents }: Pick<AcknowledgementDeps, 'documents'>,
  actor: Actor,
  documentId: string,
  place: 'body' | 'query',
): Promise<DocumentState> {
  const document = await documents.find(actor, documentId);
  if (document) return document;
  const message = 'The document does not exist';
  throw listErrors(InvalidRequest, [{ path: `${place}/document_id`, message }]);
}

/** Counts the people whom a request asks, by their status. */
export async function countPeople(
  { members, readers }: Pick<AcknowledgementDeps, 'members' | 'readers'>,
  actor: Actor,
  { _id, audience, reader_count }: RequestRow,
  context: StatusContext,
): Promise<AcknowledgementRequestDetails['totals']> {
  const totals = { people: reader_count, ...(await readers.count(actor, context)) };
  for await (const batch of members.list(actor, { _id, audience }, context.version))
    for (const { joined_at: addedAt, acknowledgement } of batch) {
      const acknowledged = acknowledgement && { baselineId: acknowledgement.baseline_id };
      const status = getStatus(context.request, context.version, { addedAt, acknowledged }, context.now);
      totals.people += 1;
      if (status !== 'pending') totals[status] += 1;
    }
  const { people, acknowledged, overdue } = totals;
  return { people, acknowledged, pending: people - acknowledged - overdue, overdue };
}
