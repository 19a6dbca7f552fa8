/** Acknowledges by a personal link, as the service does: the same rows in one transaction, and one event. */
import { createHash } from 'node:crypto';
import { newId } from '#libs/contract';
import { eventConsumers } from './consumers.ts';
import { type Client, type Db, type Handler, type Row, withTransaction } from './handler.ts';
import type { BaselineEvent } from './relay.ts';
import { summary } from './trees.ts';

/** Creates the handler. `consumerCount` is the number of services that consume the event. */
export function acknowledgeHandlers(client: Client, db: Db, consumerCount: number) {
  const readers = db.collection<Row>('acknowledgement_readers');
  const requests = db.collection<Row>('acknowledgement_requests');
  const documents = db.collection<Row>('documents');
  const acknowledgements = db.collection<Row>('baseline_acknowledgements');
  const auditLog = db.collection<Row>('baseline_audit_log');
  const { addEvent, consumeBy, markPublished } = eventConsumers(client, db);

  const acknowledge: Handler = async ({ parts: [, token = ''], body: { content_hash } }) => {
    const hash = createHash('sha256').update(token).digest('base64url');
    const event = await withTransaction(client, async (session) => {
      const reader = await readers.findOne({ hash }, { session });
      const request = await requests.findOne({ _id: reader?.request_id, status: 'open' }, { session });
      const document = await documents.findOne(
        { organization_id: reader?.organization_id, family_id: request?.family_id, status: 'published' },
        { session },
      );
      if (!reader || !request || !document || document.content_hash !== content_hash)
        throw new Error('There is nothing to acknowledge');
      const { organization_id } = reader;
      const key = { request_id: request._id, 'person.id': reader._id, document_id: document._id };
      if (await acknowledgements.findOne(key, { session })) throw new Error('It was acknowledged before');
      const at = new Date();
      const row = {
        ...{ _id: newId(), organization_id, request_id: request._id, document_id: document._id },
        ...{ baseline_id: document.baseline_id, content_hash, statement: request.statement },
        ...{ person: { id: reader._id, kind: 'reader' }, created_at: at },
      };
      await acknowledgements.insertOne(row, { session });
      const last = { acknowledged_document_id: document._id, acknowledged_at: at };
      await readers.updateOne({ _id: reader._id }, { $set: last }, { session });
      const made = {
        ...{ id: newId(), type: 'acknowledgement.made', occurred_at: at, organization_id, actor_id: null },
        data: { acknowledgement: row, document: summary(document), external_id: reader.external_id },
      };
      await addEvent(made, session);
      return made;
    });
    void consume(event);
    return { status: 303, text: '', headers: { Location: `/read/${token}` } };
  };

  /** Runs after a commit. The first consumer adds the event to an audit log. */
  async function consume(event: BaselineEvent): Promise<void> {
    await consumeBy(consumerCount, event, async (session, consumer) => {
      if (consumer > 0) return;
      const details = JSON.stringify(event.data);
      const hash = createHash('sha256').update(details).digest('hex');
      await auditLog.insertOne({ ...event, _id: newId(), details, hash }, { session });
    });
    await markPublished(event);
  }

  return { acknowledge } satisfies Record<string, Handler>;
}
