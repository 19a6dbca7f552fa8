/** Adds acknowledgements of members and readers. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Transaction } from '#libs/store';
import { ContentChanged } from '../../documents/contract.ts';
import { AcknowledgementMade } from '../events.ts';
import { getBaseline } from '../rules/acknowledgement.ts';
import type { AcknowledgementRow } from '../store/acknowledgement-collections.ts';
import type { OpenRequest } from '../store/acknowledgement-requests.ts';
import { toAcknowledgement } from './presenters.ts';
import type { AcknowledgementDeps } from './requests.ts';

/** Who acknowledges; `external_id` is the key of a reader. */
export interface AcknowledgingPerson {
  id: string;
  kind: AcknowledgementRow['person']['kind'];
  external_id: string | null;
}

/**
 * Adds the acknowledgement of the published version and publishes it. Throws `ContentChanged` unless the version has
 * this content hash. Rejects as a duplicate if the person has acknowledged the version.
 */
export async function recordAcknowledgement(
  { acknowledgements, documents }: Pick<AcknowledgementDeps, 'acknowledgements' | 'documents'>,
  actor: Actor & { tx: Transaction },
  { request, published }: OpenRequest,
  { person, content_hash, at }: { person: AcknowledgingPerson; content_hash: string; at: Date },
): Promise<AcknowledgementRow> {
  if (published.content_hash !== content_hash) throw ContentChanged();
  const row: AcknowledgementRow = {
    _id: newId(),
    organization_id: actor.organization_id,
    request_id: request._id,
    document_id: published._id,
    baseline_id: getBaseline(published).id,
    content_hash,
    statement: request.statement,
    person: { id: person.id, kind: person.kind },
    created_at: at,
  };
  await acknowledgements.add(actor, row);
  const document = await documents.getSummary(actor, published._id);
  const acknowledgement = toAcknowledgement(row);
  actor.tx.publish(AcknowledgementMade, { acknowledgement, document, external_id: person.external_id });
  return row;
}

/** Runs work again if a concurrent request has added the same acknowledgement: it then finds that one. */
export async function retryDuplicate<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return work();
  }
}
