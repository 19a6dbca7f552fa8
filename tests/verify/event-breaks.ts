/** Changes that break the invariants of events. */
import type mongoose from 'mongoose';
import { newId } from '#libs/contract';
import {
  type Break,
  type Breaks,
  type Fields,
  findFirst,
  getRows,
  nobody,
  type Row,
  stranger,
  yesterday,
} from './change-rows.ts';

type Db = mongoose.mongo.Db;

/** An event of an outbox, as far as the changes need it. */
interface StoredEvent {
  id: string;
  organization_id: string;
  data: { document: { id: string }; member: { id: string } };
}

const outboxNames = ['identity', 'documents', 'sharing', 'export', 'webhook_delivery'];

/** Changes what an event is about. Returns the id of the event. */
function changeSubject(
  outbox: string,
  type: string,
  work: (db: Db, event: StoredEvent) => Promise<unknown>,
): Break {
  return async (db) => {
    const event = parse(await findFirst(db, outbox, { type }));
    await work(db, event);
    return event.id;
  };
}

/** Sets fields of the document of an event. */
function changeDocument(type: string, fields: Fields): Break {
  return changeSubject('documents_outbox', type, (db, { data }) =>
    getRows(db, 'documents').updateOne({ _id: data.document.id }, { $set: fields }),
  );
}

/** Deletes an event. Returns the id of the row that it is about. */
function removeEvent(outbox: string, type: string, toId: (event: StoredEvent) => string): Break {
  return async (db) => {
    const row = await findFirst(db, outbox, { type });
    await getRows(db, outbox).deleteOne({ _id: row._id });
    return toId(parse(row));
  };
}

/** Inserts a second event about the same document. Returns the id of the document. */
function repeatEvent(type: string): Break {
  return async (db) => {
    const row = await findFirst(db, 'documents_outbox', { type });
    await getRows(db, 'documents_outbox').insertOne({ ...row, _id: nobody });
    return parse(row).data.document.id;
  };
}

/** Removes the id of an event from the inbox of a consumer. */
function forgetEvent(inbox: string, outbox: string, type: string): Break {
  return changeSubject(outbox, type, async (db, { id }) => {
    const { deletedCount } = await getRows(db, inbox).deleteOne({ _id: id });
    if (deletedCount !== 1) throw new Error(`${inbox} has no ${type}`);
    await getRows(db, outbox).updateOne({ _id: id }, { $set: { published_at: yesterday } });
  });
}

/** Inserts an event of the first organization, with changed fields of the event and of its row. */
function addEvent(outbox: string, { event = {}, row = {} }: { event?: Fields; row?: Fields }): Break {
  return async (db) => {
    const _id = newId();
    const type = 'api_key.used';
    const { _id: organization_id } = await findFirst(db, 'organizations');
    const text = JSON.stringify({ id: _id, type, occurred_at: '', organization_id, ...event });
    await getRows(db, outbox).insertOne({ _id, type, event: text, created_at: yesterday, ...row });
    return _id;
  };
}

const toDocumentId = ({ data }: StoredEvent) => data.document.id;
const toMemberId = ({ organization_id, data }: StoredEvent) => `${organization_id}:${data.member.id}`;

/** The changes by invariant. */
export const eventBreaks: Breaks = {
  ...Object.fromEntries(
    outboxNames.flatMap((service) => {
      const outbox = `${service}_outbox`;
      const wrongEvents = [{ id: newId() }, { type: 'other' }, stranger];
      return [
        [`${outbox}.event`, wrongEvents.map((event) => addEvent(outbox, { event }))],
        [`${outbox}.pending`, [addEvent(outbox, { row: { pending: true } })]],
      ];
    }),
  ),
  'documents_outbox.deliveries': [loseDelivery('documents_outbox', 'document.published')],
  'identity_outbox.deliveries': [loseDelivery('identity_outbox', 'member.joined')],
  'sharing_outbox.deliveries': [loseDelivery('sharing_outbox', 'acknowledgement.made')],
  'documents_outbox.documents': [
    changeDocument('document.published', { published_at: null }),
    changeDocument('document.published', { parent_doc_id: nobody }),
    changeDocument('document.revised', { parent_doc_id: null }),
    changeDocument('document.archived', { archived_at: null }),
    changeSubject('documents_outbox', 'document.deleted', async (db, { data }) => {
      const document = await findFirst(db, 'documents');
      await getRows(db, 'documents').insertOne({ ...document, _id: data.document.id, family_id: nobody });
    }),
  ],
  'identity_outbox.joined': [
    changeSubject('identity_outbox', 'member.joined', (db, event) =>
      getRows(db, 'members').deleteOne({ _id: toMemberId(event) }),
    ),
  ],
  'identity_outbox.removed': [
    changeSubject('identity_outbox', 'member.removed', async (db, event) =>
      getRows(db, 'members').insertOne({ ...(await findFirst(db, 'members')), _id: toMemberId(event) }),
    ),
  ],
  'documents.published_at': [
    removeEvent('documents_outbox', 'document.published', toDocumentId),
    removeEvent('documents_outbox', 'document.revised', toDocumentId),
    repeatEvent('document.published'),
  ],
  'documents.archived_at': [
    removeEvent('documents_outbox', 'document.archived', toDocumentId),
    repeatEvent('document.archived'),
  ],
  'members.joined_at': [removeEvent('identity_outbox', 'member.joined', toMemberId)],
  'invitations.created_at': [
    async (db) => {
      const { _id } = await findFirst(db, 'invitations');
      const event = { $regex: `"invitation":{"id":"${_id}"` };
      await getRows(db, 'identity_outbox').deleteOne({ type: 'member.invited', event });
      return _id;
    },
  ],
  'documents_inbox._id': [forgetEvent('documents_inbox', 'identity_outbox', 'member.removed')],
  'sharing_inbox._id': [forgetEvent('sharing_inbox', 'documents_outbox', 'document.archived')],
  'identity_inbox._id': [forgetEvent('identity_inbox', 'webhook_delivery_outbox', 'webhook.disabled')],
};

/** Deletes the deliveries of an event that was published after the last change of its webhook. */
function loseDelivery(outbox: string, type: string): Break {
  return changeSubject(outbox, type, async (db, { id, organization_id }) => {
    await getRows(db, 'webhook_configs').updateMany({ organization_id }, { $set: { updated_at: yesterday } });
    await getRows(db, outbox).updateOne({ _id: id }, { $set: { published_at: yesterday } });
    await getRows(db, 'webhook_deliveries').deleteMany({ event_id: id });
  });
}

function parse({ event }: Row): StoredEvent {
  return JSON.parse(String(event));
}
