/** Maps the rows of acknowledgements to the shapes of responses and events. */
import { getDueAt, getStatus, isAcknowledged, isOpen, type Version } from '../rules/acknowledgement.ts';
import type { AcknowledgementRow, ReaderRow, RequestRow } from '../store/acknowledgement-collections.ts';
import type { AskedMember } from '../store/acknowledgement-members.ts';
import type { StatusContext } from '../store/acknowledgement-readers.ts';
import type { DocumentState } from '../store/documents.ts';
import type { Acknowledgement, AcknowledgementRequest, Person, ReadingState } from './shapes.ts';

/** Maps a request. `version` is the published version of its document, or the one that was published last. */
export function toRequest(row: RequestRow, version: DocumentState): AcknowledgementRequest {
  const { everyone, departments, member_ids } = row.audience;
  const isClosed = !isOpen(row, version);
  // the row of an archived document is closed some seconds later
  const closedAt = row.closed_at ?? (isClosed ? version.archived_at : null);
  return {
    id: row._id,
    document_id: version._id,
    audience: { everyone, departments, member_ids },
    statement: row.statement,
    due_days: row.due_days,
    status: isClosed ? 'closed' : 'open',
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    closed_at: closedAt?.toISOString() ?? null,
  };
}

/** Maps an acknowledgement. */
export function toAcknowledgement(row: AcknowledgementRow): Acknowledgement {
  const { _id, request_id, document_id, content_hash, statement, person, created_at } = row;
  return {
    id: _id,
    ...{ request_id, document_id, content_hash, statement },
    person: { id: person.id, kind: person.kind },
    created_at: created_at.toISOString(),
  };
}

/** Maps a member whom a request asks. */
export function toMemberPerson(
  { user_id, name, joined_at, acknowledgement }: AskedMember,
  context: StatusContext,
): Person {
  const acknowledged = acknowledgement && {
    baselineId: acknowledgement.baseline_id,
    documentId: acknowledgement.document_id,
    at: acknowledgement.created_at,
  };
  const state = toState(context, joined_at, acknowledged);
  return { id: user_id, kind: 'member', external_id: null, name, url: null, ...state };
}

/** Maps a reader; `url` is the personal link. */
export function toReaderPerson(row: ReaderRow, url: string, context: StatusContext): Person {
  const { _id, external_id, name, added_at } = row;
  const state = toState(context, added_at, getLastAcknowledgement(row));
  return { id: _id, kind: 'reader', external_id, name, url, ...state };
}

/** Maps what a reader is asked. */
export function toReadingState(
  reader: Parameters<typeof getLastAcknowledgement>[0] & Pick<ReaderRow, 'added_at'>,
  { statement, ...request }: Pick<RequestRow, 'statement' | 'due_days' | 'created_at'>,
  version: Version,
): ReadingState {
  return {
    statement,
    due_at: getDueAt(request, version, reader.added_at).toISOString(),
    content_hash: version.content_hash ?? null,
    acknowledged_at: getAcknowledgedAt(reader, version)?.toISOString() ?? null,
  };
}

/** When a reader acknowledged a version, or one that differs only by minor changes; undefined if never. */
export function getAcknowledgedAt(
  reader: Parameters<typeof getLastAcknowledgement>[0],
  version: Version,
): Date | undefined {
  const last = getLastAcknowledgement(reader);
  return isAcknowledged(last, version) ? last?.at : undefined;
}

/** The last acknowledgement of a reader; undefined if there is none. */
function getLastAcknowledgement({
  acknowledged_baseline_id: baselineId,
  acknowledged_document_id: documentId,
  acknowledged_at: at,
}: Pick<ReaderRow, 'acknowledged_baseline_id' | 'acknowledged_document_id' | 'acknowledged_at'>) {
  return baselineId && documentId && at ? { baselineId, documentId, at } : undefined;
}

function toState(
  { request, version, now }: StatusContext,
  addedAt: Date,
  acknowledged: { baselineId: string; documentId: string; at: Date } | undefined,
): Pick<Person, 'status' | 'due_at' | 'acknowledged_at' | 'document_id'> {
  const counts = isAcknowledged(acknowledged, version) ? acknowledged : undefined;
  return {
    status: getStatus(request, version, { addedAt, acknowledged }, now),
    due_at: getDueAt(request, version, addedAt).toISOString(),
    acknowledged_at: counts?.at.toISOString() ?? null,
    document_id: counts?.documentId ?? null,
  };
}
