/** A database with rows of every kind, created through the API, in which no service runs any more. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import mongoose from 'mongoose';
import { Secret } from '#libs/contract';
import { createKeyring, type Keyring } from '#libs/store';
import {
  addMember,
  createDocument,
  createWebhook,
  httpClient,
  type Member,
  must,
  opsToken,
  publishDocument,
  register,
  setPlan,
  shareDocument,
  type TestApp,
  testApp,
  testMongo,
  until,
  webhookReceiver,
} from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { findBrokenInvariants } from '../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../tools/admin/verify/invariants.ts';
import { encodePng } from '../fixtures/generators/png.ts';

type Db = mongoose.mongo.Db;
type Rows = ReadonlyMap<string, string>;

/** The database. */
export interface SeededDatabase {
  db: Db;
  /** The connection string with the name of the database. */
  uri: string;
  /** The keys that its secrets are encrypted with. */
  keyring: Keyring;
  /** Undoes all changes of rows. */
  restore(): Promise<void>;
  /** Drops the database. */
  drop(): Promise<void>;
}

const template = new URL('../fixtures/corporate-template.docx', import.meta.url);

/** Creates the database. Every invariant holds, without a grace period. */
export async function seedDatabase(): Promise<SeededDatabase> {
  const ENCRYPTION_KEYS = randomBytes(32).toString('base64');
  const [app, receiver, mongo] = await Promise.all([
    testApp({ services, contracts, environment: { ENCRYPTION_KEYS } }),
    webhookReceiver(({ path }) => (path === '/gone' ? 410 : 204)),
    testMongo(),
  ]);
  const uri = new URL(mongo.uri);
  uri.pathname = `/verify_${randomBytes(4).toString('hex')}`;
  const client = await mongoose.mongo.MongoClient.connect(uri.href);
  const db = client.db();
  try {
    await createTenants(app, receiver.urlFor);
    await until('all invariants to hold', async () => {
      const found = findBrokenInvariants(app.db, invariants, { now: new Date(), graceMs: 0 });
      return (await found.next()).done;
    });
    await copyDatabase(app.db, db);
  } finally {
    await app.stop();
    await receiver.close();
  }
  const original = await readRows(db);
  return {
    db,
    uri: uri.href,
    keyring: createKeyring(new Secret(ENCRYPTION_KEYS)),
    async restore() {
      const current = await readRows(db);
      for (const [name, text] of original) {
        if (current.get(name) === text) continue;
        await db.collection(name).deleteMany({});
        const rows = mongoose.mongo.BSON.EJSON.parse(text);
        if (rows.length > 0) await db.collection(name).insertMany(rows);
      }
    },
    async drop() {
      await db.dropDatabase();
      await client.close();
      await mongo.stop();
    },
  };
}

/** Creates an organization with rows of every kind, and one with a limited plan. */
async function createTenants(app: TestApp, urlFor: (path: string) => string): Promise<void> {
  const ada = await register(app);
  const as = ada.key;
  const post = (path: string, body?: unknown, by = as) => must(app, 'POST', path, { as: by, body });
  const createdKey = await post('/api-keys', { name: 'Integration', role: 'admin' });
  await post('/api-keys', { name: 'Created by a key' }, createdKey.key);

  await createWebhook(app, as, urlFor('working'), [
    ...['document.published', 'member.joined', 'acknowledgement.made'],
  ]);
  await post('/webhooks/listeners');
  const gone = await createWebhook(app, as, urlFor('gone'), ['document.archived']);

  const { name } = await post('/departments', { name: 'Kitchen' });
  const [editor, leaver] = [await addMember(app, as), await addMember(app, as)];
  await must(app, 'PATCH', `/members/${editor.userId}`, { as, body: { department: name } });
  await must(app, 'DELETE', `/members/${leaver.userId}`, { as });
  await post('/members/invitations', { email: 'guest@example.com' });
  await post(`/members/${editor.userId}/password-reset`, undefined, ada.token);

  const step = { node_type: 'step', title: 'Count', content: { type: 'doc', content: [] } };
  const nodes = [{ node_type: 'section', title: 'Evening', children: [step] }];
  const draft = await createDocument(app, as, { title: 'Draft', nodes });
  await must(app, 'PATCH', `/documents/${draft.id}/editor`, { as, body: { editor_id: editor.userId } });
  const first = await shareDocument(app, as, { title: 'First', nodes });
  const second = await post(`/documents/${first.id}/revise`);
  await post(`/documents/${second.id}/publish`);
  await post(`/documents/${second.id}/revise`);
  const archived = await publishDocument(app, as, { title: 'Archived' });
  await post(`/documents/${archived.id}/archive`);
  const deleted = await createDocument(app, as, { title: 'Deleted' });
  await must(app, 'DELETE', `/documents/${deleted.id}`, { as });

  await submitDrafts(app, as, editor);
  await askPeople(app, as, editor);
  const review = { reviewer_id: editor.userId, every_months: 12 };
  await must(app, 'PATCH', `/documents/${second.id}/review`, { as, body: review });
  await showPicture(app, as);

  const form = new FormData();
  form.append('name', 'Corporate');
  form.append('file', new Blob([new Uint8Array(await readFile(template))]), 'template.docx');
  await post('/templates', form);

  const limited = await register(app);
  await setPlan(app, limited.organizationId, 'trial');
  await publishDocument(app, limited.key);
  await createOrganizationWithoutMembers(app);

  await until('the webhook to be disabled', async () => {
    const { is_active } = await must(app, 'GET', `/webhooks/${gone.id}`, { as });
    return !is_active;
  });
}

/** Creates an organization as the operator. Its first admin has not accepted the invitation yet. */
async function createOrganizationWithoutMembers({ management }: TestApp): Promise<void> {
  const create = (path: string, body: object) =>
    must(httpClient(management), 'POST', path, { as: opsToken, body });
  const { id } = await create('/ops/organizations', { name: 'Harbour' });
  await create(`/ops/organizations/${id}/invitations`, { email: 'first-admin@example.com' });
}

/** Uploads a picture, and creates a draft that shows it. */
async function showPicture(app: TestApp, as: string): Promise<void> {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(encodePng(1, 1, () => [0, 0, 0, 255]))]), 'till.png');
  const { src } = await must(app, 'POST', '/assets', { as, body });
  const content = { type: 'doc', content: [{ type: 'image', attrs: { src } }] };
  const nodes = [{ node_type: 'section', title: 'Till', content }];
  await createDocument(app, as, { title: 'Picture', nodes });
}

/** Submits drafts, one for each state of a request, and publishes one that is approved. */
async function submitDrafts(app: TestApp, as: string, approver: Member): Promise<void> {
  const submit = async (title: string, decision?: object) => {
    const { id } = await createDocument(app, as, { title });
    const body = { document_id: id, approver_ids: [approver.userId] };
    const request = await must(app, 'POST', '/approvals', { as, body });
    if (decision)
      await must(app, 'POST', `/approvals/${request.id}/decision`, {
        ...{ as: approver.token, body: { content_hash: request.content_hash, ...decision } },
      });
    return { id, request_id: request.id };
  };
  await submit('Pending');
  await submit('Approved', { decision: 'approve' });
  await submit('Rejected', { decision: 'reject', comment: 'No.' });
  const withdrawn = await submit('Withdrawn');
  await must(app, 'POST', `/approvals/${withdrawn.request_id}/withdraw`, { as });
  const published = await submit('Published', { decision: 'approve' });
  await must(app, 'POST', `/documents/${published.id}/publish`, { as });
}

/** Requests acknowledgements, of a member and of two readers, across a minor change; closes another request. */
async function askPeople(app: TestApp, as: string, member: Member): Promise<void> {
  const ask = async (title: string) => {
    const { id, content_hash } = await publishDocument(app, as, { title, version: '1' });
    const approvers = { as, body: { approver_ids: [member.userId] } };
    await must(app, 'PATCH', `/documents/${id}/approvers`, approvers);
    const body = { document_id: id, audience: { member_ids: [member.userId] } };
    const request = await must(app, 'POST', '/acknowledgement-requests', { as, body });
    await must(app, 'PATCH', `/documents/${id}/approvers`, { as, body: { approver_ids: [] } });
    return { id, content_hash, path: `/acknowledgement-requests/${request.id}` };
  };
  const { path: closed } = await ask('Asked and closed');
  await must(app, 'POST', `${closed}/close`, { as });
  const { id, content_hash, path } = await ask('Asked');
  const readers = ['E 1', 'E 2'].map((external_id) => ({ external_id, name: external_id }));
  const [{ url }] = await must(app, 'POST', `${path}/readers`, { as, body: { readers } });
  const form = new URLSearchParams({ content_hash });
  await must(app, 'POST', new URL(url).pathname, { body: form, status: 303 });
  const acknowledged = { as: member.token, body: { document_id: id, content_hash } };
  await must(app, 'POST', '/acknowledgements', acknowledged);
  const draft = await must(app, 'POST', `/documents/${id}/revise`, { as });
  await must(app, 'PATCH', `/documents/${draft.id}`, { as, body: { minor_change: true, version: '1.1' } });
  await must(app, 'POST', `/documents/${draft.id}/publish`, { as });
}

async function copyDatabase(from: Db, to: Db): Promise<void> {
  for (const { name } of await from.listCollections({ type: 'collection' }).toArray()) {
    if (name.startsWith('system.')) continue;
    const source = from.collection(name);
    await to.createCollection(name);
    const [indexes, rows] = [await source.indexes(), await source.find().toArray()];
    const declared = indexes.filter((index) => index.name !== '_id_');
    if (declared.length > 0)
      await to.collection(name).createIndexes(declared.map(({ v: _, ...index }) => index));
    if (rows.length > 0) await to.collection(name).insertMany(rows);
  }
}

/** The rows of each collection as text, so that no test shares objects with another one. */
async function readRows(db: Db): Promise<Rows> {
  const collections = await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
  const entries = collections.map(async ({ name }) => {
    const rows = await db.collection(name).find().sort({ _id: 1 }).toArray();
    return [name, mongoose.mongo.BSON.EJSON.stringify(rows, { relaxed: false })] as const;
  });
  return new Map(await Promise.all(entries));
}
