/** The part of the story about acknowledgement: a colleague and two readers are asked to read a document. */
import { type TestApp, until } from '#libs/testing';
import type { Recorder } from '../recorder.ts';

/** The tokens of the personal links in the examples. */
const sampleTokens = [
  'kXv1t0Z6rOe3nQ2bW8yL5mJ9cF4hA7sDpUgIxKTYqRM',
  'u4Vd8Gq1ZfN7bS0kT3yH6wP9cLmXaE2rJ5oBiQvKtWs',
  'pZ7Rk2Yc9HqM4xJ1vB6nT8dF0sLgWeU5aKiOo3CtXyE',
];

/** The people of this part: the key of the admin, and the colleague who is asked. */
export interface Asking {
  key: string;
  colleague: string;
  colleagueId: string;
}

/** The admin asks for acknowledgements of the published document. All but one reader, who is deleted, confirm. */
export async function acknowledge(recorder: Recorder, people: Asking, doc_id: string): Promise<void> {
  const { app, aliases, example, prepare } = recorder;
  const { key: as, colleague, colleagueId } = people;
  await prepare(as, 'PATCH', `/documents/${doc_id}/approvers`, { approver_ids: [colleagueId] });
  const { content_hash } = await prepare(as, 'GET', `/documents/${doc_id}`);
  const audience = { departments: ['Stores'], member_ids: [colleagueId] };
  const request = await example('requestAcknowledgement', {
    as,
    body: {
      document_id: doc_id,
      audience,
      statement: 'I have read it and I will work like this.',
      due_days: 7,
    },
  });
  const params = { request_id: String(request.id) };
  const readers = [
    { external_id: 'E-1042', name: 'Grace Hopper' },
    { external_id: 'E-1043', name: 'Alan Turing' },
  ];
  // first without an example, so that the links have their counterparts when it is recorded
  const path = `/acknowledgement-requests/${params.request_id}/readers`;
  const added = await prepare(as, 'POST', path, { readers });
  for (const [at, { url }] of added.entries()) aliases.add(url.split('/read/')[1], sampleTokens[at] ?? '');
  await example('addReaders', { as, params, body: { readers } });
  await example('listAcknowledgementRequests', {
    as: colleague,
    query: { status: 'open', awaiting: 'me', limit: 20 },
  });
  await passDueDate(app, params.request_id, doc_id);
  const [grace, alan] = added;
  const token = grace.url.split('/read/')[1];
  for (const accept of ['application/json', 'text/html'])
    await example('readDocument', { accept, params: { token } });
  await example('acknowledgeByLink', { params: { token }, body: { content_hash } });
  await example('deleteReader', { as, params: { ...params, person_id: alan.id } });
  await example('updateAcknowledgementRequest', { as, params, body: { due_days: 30 } });
  await example('createAcknowledgement', { as: colleague, body: { document_id: doc_id, content_hash } });
  await example('getAcknowledgementRequest', { as, params });
  await example('listPeople', { accept: 'application/json', as, params, query: { status: 'acknowledged' } });
  await example('listPeople', { accept: 'text/csv', as, params, query: { format: 'csv' } });
  await example('listAcknowledgements', { as, query: { ...params, limit: 20 } });
  await example('closeAcknowledgementRequest', { as, params });
  await prepare(as, 'PATCH', `/documents/${doc_id}/approvers`, { approver_ids: [] });
}

/** Moves the request and the publication ten days into the past, and waits for the check of the due date. */
async function passDueDate({ db }: TestApp, requestId: string, documentId: string): Promise<void> {
  const before = new Date(Date.now() - 10 * 86_400_000);
  const documents = db.collection<{ _id: string }>('documents');
  await documents.updateOne({ _id: documentId }, { $set: { baseline_published_at: before } });
  const requests = db.collection<{ _id: string }>('acknowledgement_requests');
  const times = { created_at: before, overdue_at: new Date(Date.now() - 1_000) };
  await requests.updateOne({ _id: requestId }, { $set: times });
  const isChecked = async () =>
    (await requests.findOne({ _id: requestId, overdue_at: { $exists: false } })) !== null;
  await until('the check of the due date', isChecked);
}

/** The admin asks a reader to acknowledge a document with a picture. */
export async function showPictureToReader(
  { aliases, example, prepare }: Recorder,
  { key: as, colleagueId }: Asking,
  { document_id, asset_id }: { document_id: string; asset_id: string },
): Promise<void> {
  await prepare(as, 'PATCH', `/documents/${document_id}/approvers`, { approver_ids: [colleagueId] });
  const { id } = await prepare(as, 'POST', '/acknowledgement-requests', { document_id });
  const readers = [{ external_id: 'E-1044', name: 'Katherine Johnson' }];
  const [{ url }] = await prepare(as, 'POST', `/acknowledgement-requests/${id}/readers`, { readers });
  const token = url.split('/read/')[1];
  aliases.add(token, sampleTokens[2] ?? '');
  await example('getReadingAsset', { params: { token, asset_id } });
}
