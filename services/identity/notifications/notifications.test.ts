/** Notifications over HTTP with a real MongoDB and the events that cause them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  addMember,
  createDocument,
  type Member,
  type Person,
  publishDocument,
  register,
  type TestApp,
  testApp,
  until,
} from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { services } from '../../testing/services.ts';
import { documentAssigned, memberJoined, recipients, toNotification } from '../rules/notifications.ts';
import { InboxItem } from '../shapes.ts';

let app: TestApp;
let ada: Person;
/** A member of Ada's organization, by an access token. */
let guest: Member;

beforeAll(async () => {
  app = await testApp({ services, contracts });
  ada = await register(app);
  guest = await addMember(app, ada.key);
});
afterAll(() => app?.stop());

const getInbox = async (as: string, query = '') => (await app.request('GET', `/inbox${query}`, { as })).body;
const getCounts = async (as: string) => (await app.request('GET', '/inbox/counts', { as })).body;

async function publishFor(owner: string, title: string): Promise<string> {
  const { id } = await createDocument(app, owner, { title });
  await app.request('POST', `/documents/${id}/publish`, { as: ada.key });
  return id;
}

describe('notifications', () => {
  test('admins are notified of a new member, but the new member is not', async () => {
    const items = await until(
      'the notification',
      async () => (await getInbox(ada.token)).length > 0 && getInbox(ada.token),
    );
    expect(InboxItem.parse(items.at(-1))).toMatchObject({
      type: 'member.joined',
      title: 'Guest joined the organization',
      data: { member_id: guest.userId },
      read_at: null,
    });
    expect(await getInbox(guest.token)).toEqual([]);
  });

  test('an owner is notified of actions by others, not of their own', async () => {
    const id = await publishFor(guest.token, 'Fire drill');
    const [item] = await until(
      'the notification',
      async () => (await getInbox(guest.token)).length > 0 && getInbox(guest.token),
    );
    expect(item).toMatchObject({
      type: 'document.published',
      title: '“Fire drill” was published',
      data: { document_id: id },
    });
    await publishFor(ada.key, 'Mine');
    const all = await getInbox(ada.token);
    expect(all.filter(({ type }: { type: string }) => type === 'document.published')).toEqual([]);
  });

  test('a redelivered event causes no second notification', async () => {
    const rows = app.db.collection<{ _id: string }>('documents_outbox');
    const before = await getCounts(guest.token);
    const { modifiedCount } = await rows.updateMany(
      {},
      { $set: { pending: true, lease_until: new Date(0), failures: 0 }, $unset: { published_at: 1 } },
    );
    expect(modifiedCount).toBeGreaterThan(0);
    await until(
      'all events to be republished',
      async () => (await rows.countDocuments({ pending: true })) === 0,
    );
    expect(await getCounts(guest.token)).toEqual(before);
  });
});

describe('a request for approval', () => {
  test('notifies its approvers, then its submitter and the owner', async () => {
    const [owner, approver] = [await addMember(app, ada.key), await addMember(app, ada.key)];
    const { id } = await createDocument(app, owner.token, { title: 'Vault' });
    const submit = async () => {
      const body = { document_id: id, approver_ids: [approver.userId] };
      return (await app.request('POST', '/approvals', { as: ada.key, body })).body;
    };
    const decide = ({ id, content_hash }: { id: string; content_hash: string }, decision: string) =>
      app.request('POST', `/approvals/${id}/decision`, {
        ...{ as: approver.token, body: { decision, content_hash, comment: 'Seen.' } },
      });
    const findItem = (as: string, type: string) =>
      until(`${type} in the inbox`, async () =>
        (await getInbox(as)).find((item: InboxItem) => item.type === type && item.data.document_id === id),
      );
    const first = await submit();
    const data = { document_id: id, document_title: 'Vault', approval_id: first.id };
    const asked = await findItem(approver.token, 'approval.requested');
    expect(asked).toMatchObject({ title: '“Vault” awaits your approval', data });
    expect(asked.read_at).toBeNull();
    await decide(first, 'reject');
    // nobody has to decide any more
    await until('the request is read', async () => {
      const items: InboxItem[] = await getInbox(approver.token);
      return items.some(({ id, read_at }) => id === asked.id && read_at !== null);
    });
    for (const { token } of [ada, owner])
      expect(await findItem(token, 'approval.rejected')).toMatchObject({
        title: '“Vault” was rejected',
        data,
      });
    const second = await submit();
    await decide(second, 'approve');
    for (const { token } of [ada, owner])
      expect((await findItem(token, 'approval.approved')).title).toBe('“Vault” was approved');
    await app.request('POST', `/approvals/${second.id}/withdraw`, { as: owner.token });
    const withdrawn = await findItem(ada.token, 'approval.withdrawn');
    expect(withdrawn.title).toBe('The request to approve “Vault” was withdrawn');
    const types = (await getInbox(owner.token)).map(({ type }: InboxItem) => type);
    expect(types).toEqual(['approval.approved', 'approval.rejected']);
  });
});

describe('a request for acknowledgement', () => {
  test('notifies the members of a department that was renamed since', async () => {
    const admin = await register(app);
    const as = admin.key;
    await app.request('PATCH', '/organization', { as, body: { settings: { lock_published: true } } });
    const createMember = async (name: string) => {
      const department = await app.request('POST', '/departments', { as, body: { name } });
      const member = await addMember(app, as);
      await app.request('PATCH', `/members/${member.userId}`, { as, body: { department: name } });
      return { ...member, rename: `/departments/${department.body.id}` };
    };
    const asked = await createMember('Ops');
    const { id: document_id } = await publishDocument(app, as);
    const body = { document_id, audience: { departments: ['Ops'] } };
    await app.request('POST', '/acknowledgement-requests', { as, body });
    await until('the notification', async () => (await getCounts(asked.token)).unread === 1);
    await app.request('PATCH', asked.rename, { as, body: { name: 'Operations' } });
    // another department has the name now
    const other = await createMember('Ops');
    const rows = app.db.collection<{ _id: string; event: string }>('sharing_outbox');
    const published = { type: 'acknowledgement.requested', event: { $regex: document_id } };
    const { event: text } = (await rows.findOne(published)) ?? { event: '{}' };
    const { organization_version, ...event } = JSON.parse(text);
    expect(organization_version).toEqual(expect.any(Number));
    const publishAgain = async (version: object) => {
      await app.request('POST', '/inbox/read-all', { as: asked.token });
      const _id = newId();
      const row = { type: event.type, _id, event: JSON.stringify({ ...event, ...version, id: _id }) };
      const pending = { pending: true, lease_until: new Date(0), failures: 0, created_at: new Date() };
      await rows.insertOne({ ...row, ...pending });
      const inbox = app.db.collection<{ _id: string }>('identity_inbox');
      await until('the event to be processed', async () => (await inbox.findOne({ _id })) !== null);
      return [await getCounts(asked.token), await getCounts(other.token)].map(({ unread }) => unread);
    };
    expect(await publishAgain({ organization_version })).toEqual([1, 0]);
    // an event from before the envelope had the version
    expect(await publishAgain({})).toEqual([0, 1]);
  });
});

describe('a review that is due', () => {
  test('notifies the reviewer, else the owner', async () => {
    const [owner, reviewer, leaver] = await Promise.all([1, 2, 3].map(() => addMember(app, ada.key)));
    const createDue = async (title: string, reviewer_id: string | null) => {
      const id = await publishFor(owner?.token ?? '', title);
      const body = { reviewer_id, every_months: 1 };
      await app.request('PATCH', `/documents/${id}/review`, { as: ada.key, body });
      return id;
    };
    const ids = [
      await createDue('Vault', reviewer?.userId ?? null),
      await createDue('Till', null),
      await createDue('Safe', leaver?.userId ?? null),
    ];
    const review_due_at = new Date(Date.now() - 86_400_000);
    const due = { review_due_at, review_notice_at: review_due_at };
    const documents = app.db.collection<{ _id: string }>('documents');
    await app.request('DELETE', `/members/${leaver?.userId}`, { as: ada.key });
    await documents.updateMany({ _id: { $in: ids } }, { $set: due });
    const readTitles = async (as = '') =>
      (await getInbox(as)).flatMap(({ type, title }: InboxItem) =>
        type === 'document.review_due' ? [title] : [],
      );
    await until('the notices', async () => (await readTitles(owner?.token)).length === 2);
    expect((await readTitles(owner?.token)).sort()).toEqual([
      'The review of “Safe” is due',
      'The review of “Till” is due',
    ]);
    await until('the notice', async () => (await readTitles(reviewer?.token)).length === 1);
    expect(await readTitles(reviewer?.token)).toEqual(['The review of “Vault” is due']);
    expect(await readTitles(ada.token)).toEqual([]);
    const later = { ...due, review_due_at: new Date(Date.now() + 86_400_000) };
    const title = `The review of “Alarm” is due on ${later.review_due_at.toISOString().slice(0, 10)}`;
    await documents.updateOne({ _id: await createDue('Alarm', null) }, { $set: later });
    await until(`“${title}”`, async () => (await readTitles(owner?.token)).includes(title));
  });
});

describe('repeated notifications', () => {
  test('concurrent events about one document leave one unread item', async () => {
    const editor = await addMember(app, ada.key);
    const { body } = await app.request('POST', '/documents', { as: ada.key, body: { title: 'Folded' } });
    const assigned = { as: ada.key, body: { editor_id: editor.userId } };
    await app.request('PATCH', `/documents/${body.id}/editor`, assigned);
    await until('the notification', async () => (await getCounts(editor.token)).total === 1);
    const rows = app.db.collection<{ _id: string; event: string }>('documents_outbox');
    const [assignment] = (await rows.find().toArray()).filter(({ event }) => event.includes(editor.userId));
    for (const round of [1, 2]) {
      // many assignments that come in together, as after an outage
      const more = Array.from({ length: 10 }, () => {
        const id = newId();
        const event = JSON.stringify({ ...JSON.parse(assignment?.event ?? ''), id });
        return { type: 'document.assigned', _id: id, event, pending: true, lease_until: new Date(0) };
      });
      await rows.insertMany(more.map((row) => ({ ...row, failures: 0, created_at: new Date() })));
      await until(
        'all events to be consumed',
        async () => (await rows.countDocuments({ pending: true })) === 0,
      );
      expect([round, await getCounts(editor.token)]).toEqual([round, { unread: 1, total: round }]);
      await app.request('POST', '/inbox/read-all', { as: editor.token });
    }
  });
});

describe('the inbox', () => {
  test('a member reads, counts and deletes only their own items', async () => {
    const reader = await addMember(app, ada.key);
    for (const title of ['One', 'Two', 'Three']) await publishFor(reader.token, title);
    const items = await until(
      'three items',
      async () => (await getInbox(reader.token)).length === 3 && getInbox(reader.token),
    );
    expect(items.map(({ data }: { data: { document_title: string } }) => data.document_title).sort()).toEqual(
      ['One', 'Three', 'Two'],
    );
    const read = await app.request('POST', `/inbox/${items[0].id}/read`, { as: reader.token });
    expect(read.body).toEqual({ ...items[0], read_at: expect.any(String) });
    expect((await app.request('POST', `/inbox/${items[0].id}/read`, { as: reader.token })).body).toEqual(
      read.body,
    );
    expect(await getCounts(reader.token)).toEqual({ unread: 2, total: 3 });
    expect(await getInbox(reader.token, '?unread=true')).toHaveLength(2);
    for (const [method, path] of [
      ['POST', `/inbox/${items[1].id}/read`],
      ['DELETE', `/inbox/${items[1].id}`],
    ] as const)
      expect((await app.request(method, path, { as: ada.token })).status).toBe(404);
    expect((await app.request('DELETE', `/inbox/${items[1].id}`, { as: reader.token })).status).toBe(204);
    expect((await app.request('POST', '/inbox/read-all', { as: reader.token })).status).toBe(204);
    expect(await getCounts(reader.token)).toEqual({ unread: 0, total: 2 });
    const first = await app.request('GET', '/inbox?limit=1', { as: reader.token });
    const next = /<\/api\/v1([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect([...first.body, ...(await app.request('GET', next, { as: reader.token })).body]).toEqual(
      await getInbox(reader.token),
    );
  });
});

test('inbox items expire after 90 days', async () => {
  const collection = app.db.collection('notifications');
  const days = (await collection.indexes()).flatMap(({ key, expireAfterSeconds: seconds }) =>
    seconds === undefined ? [] : [[Object.keys(key), seconds / 86_400]],
  );
  expect(days).toEqual([[['created_at'], 90]]);
  const item = await collection.findOne({});
  expect(item?.created_at).toBeInstanceOf(Date);
});

test('recipients are owner and editor without the actor; texts match', () => {
  const document = { id: 'd', title: 'T', created_by: 'owner', editor_id: 'editor' };
  expect(recipients(document, 'owner')).toEqual(['editor']);
  expect(recipients(document, null)).toEqual(['owner', 'editor']);
  expect(recipients({ ...document, editor_id: 'owner' }, 'other')).toEqual(['owner']);
  expect(recipients({ ...document, editor_id: null }, 'owner')).toEqual([]);
  expect(toNotification('document.archived', document).title).toBe('“T” was archived');
  expect(toNotification('document.revised', document).title).toBe('“T” was published in a new version');
  expect(documentAssigned(document)).toMatchObject({
    type: 'document.assigned',
    title: 'You are now the editor of “T”',
  });
  expect(memberJoined({ id: 'm', name: 'Mo' })).toMatchObject({
    type: 'member.joined',
    data: { member_id: 'm', member_name: 'Mo' },
  });
});
