/** Random stories of versions, people and time: the derived status and the cache equal a model of the whole history. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AnyJson, must, type Person, type TestApp } from '#libs/testing';
import type { ReaderRow } from '../store/acknowledgement-collections.ts';
import { AcknowledgementModel } from '../testing/acknowledgement-model.ts';
import { type AcknowledgementFixture, acknowledgementFixture } from '../testing/acknowledgements.ts';

let fixture: AcknowledgementFixture;
let nowMs = Date.now();

beforeAll(async () => {
  fixture = await acknowledgementFixture({ now: () => new Date(nowMs) });
}, 120_000);
afterAll(() => fixture?.app.stop());

const steps = [
  ...['publish a minor version', 'publish a version', 'edit in place'],
  ...['a member joins', 'a member leaves', 'add a reader', 'delete a reader'],
  ...['a member acknowledges', 'a member acknowledges', 'a reader acknowledges', 'a reader acknowledges'],
  ...['days pass', 'days pass', 'change the due days', 'restart'],
] as const;
const story = fc.array(fc.record({ step: fc.constantFrom(...steps), pick: fc.nat(20) }), {
  ...{ minLength: 12, maxLength: 30 },
});

/** The state of a story. */
interface Run {
  admin: Person;
  model: AcknowledgementModel;
  requestId: string;
  document: AnyJson;
  passwords: Map<string, { email: string; password: string }>;
  urls: Map<string, string>;
}

/** Logs in, because the access tokens expire as days pass. */
async function logIn({ email, password }: { email: string; password: string }): Promise<string> {
  return (await must(fixture.app, 'POST', '/auth/login', { body: { email, password } })).access_token;
}

async function begin(): Promise<Run> {
  const admin = await fixture.organization();
  const document = await fixture.publish(admin.key);
  const body = { audience: { everyone: true }, due_days: 3 };
  const request = await fixture.ask(admin.key, document.id, body);
  const model = new AcknowledgementModel(Date.parse(request.created_at), 3);
  const publishedAt = Date.parse(document.published_at);
  model.versions.push({ id: document.id, isMinor: false, publishedAt, isEdited: false });
  const [me] = await must(fixture.app, 'GET', '/members', { as: admin.key });
  const addedAt = Date.parse(me.joined_at);
  model.people.set(admin.userId, { kind: 'member', addedAt, isGone: false });
  const passwords = new Map([[admin.userId, { email: admin.email, password: admin.password }]]);
  return { admin, model, requestId: request.id, document, passwords, urls: new Map() };
}

/** Does one step with the service and the model. A step that is impossible does nothing. */
async function take(run: Run, step: (typeof steps)[number], pick: number): Promise<void> {
  const { admin, model, requestId } = run;
  const as = admin.key;
  const { app } = fixture;
  const choose = (ids: readonly string[]) => ids[pick % Math.max(1, ids.length)];
  const path = `/acknowledgement-requests/${requestId}`;
  if (step === 'days pass') nowMs += (1 + (pick % 3)) * 86_400_000;
  else if (step === 'restart') await app.restart();
  else if (step.startsWith('publish')) {
    const isMinor = step === 'publish a minor version';
    const changes = { title: `Vault ${pick}`, minor_change: isMinor };
    run.document = await fixture.revise(as, run.document.id, changes);
    const publishedAt = Date.parse(run.document.published_at);
    model.versions.push({ id: run.document.id, isMinor, publishedAt, isEdited: false });
  } else if (step === 'edit in place') {
    const lock = (lock_published: boolean) =>
      must(app, 'PATCH', '/organization', { as, body: { settings: { lock_published } } });
    await lock(false);
    await must(app, 'PATCH', `/documents/${run.document.id}`, { as, body: { title: `Edited ${pick}` } });
    await lock(true);
    model.current.isEdited = true;
  } else if (step === 'a member joins') {
    const member = await fixture.member(admin);
    const members = await must(app, 'GET', '/members', { as });
    const found = members.find(({ id }: { id: string }) => id === member.userId);
    const addedAt = Date.parse(found.joined_at);
    model.people.set(member.userId, { kind: 'member', addedAt, isGone: false });
    run.passwords.set(member.userId, member);
  } else if (step === 'a member leaves') {
    const id = choose(model.list('member').filter((one) => one !== admin.userId));
    if (id) await must(app, 'DELETE', `/members/${id}`, { as });
    setGone(model, id);
  } else if (step === 'add a reader') {
    const [reader] = await fixture.addReaders(as, requestId, [`E ${pick}`]);
    if (!run.urls.has(reader.id))
      model.people.set(reader.id, { kind: 'reader', addedAt: nowMs, isGone: false });
    run.urls.set(reader.id, reader.url);
  } else if (step === 'delete a reader') {
    const id = choose(model.list('reader'));
    if (id) await must(app, 'DELETE', `${path}/readers/${id}`, { as });
    setGone(model, id);
  } else if (step === 'change the due days') {
    model.dueDays = 1 + (pick % 6);
    await must(app, 'PATCH', path, { as, body: { due_days: model.dueDays } });
  } else await acknowledge(run, choose(model.list(step === 'a member acknowledges' ? 'member' : 'reader')));
}

async function acknowledge({ model, document, passwords, urls }: Run, id: string | undefined): Promise<void> {
  if (id === undefined || model.current.isEdited) return;
  const credentials = passwords.get(id);
  const response = credentials
    ? await fixture.acknowledge(await logIn(credentials), document)
    : await fixture.submit(urls.get(id) ?? '', { content_hash: document.content_hash });
  const isKnown = model.acknowledgements.some(
    ({ personId, versionId }) => personId === id && versionId === document.id,
  );
  expect(response.status).toBe(credentials ? (isKnown ? 200 : 201) : 303);
  if (!isKnown) model.acknowledgements.push({ personId: id, versionId: document.id, at: nowMs });
}

function setGone(model: AcknowledgementModel, id: string | undefined): void {
  const person = id === undefined ? undefined : model.people.get(id);
  if (person) person.isGone = true;
}

async function check({ admin, model, requestId }: Run): Promise<void> {
  const expected = model.getStatuses(nowMs);
  const people = await fixture.listPeople(admin.key, requestId);
  const actual = new Map(people.map(({ id, status, document_id }) => [id, { status, document_id }]));
  expect(actual).toEqual(expected);
  const { totals } = await fixture.getRequest(admin.key, requestId);
  const countStatus = (status: string) => people.filter((person) => person.status === status).length;
  expect(totals).toEqual({
    ...{ people: people.length, acknowledged: countStatus('acknowledged') },
    ...{ pending: countStatus('pending'), overdue: countStatus('overdue') },
  });
  for (const status of ['pending', 'overdue', 'acknowledged']) {
    const listed = await fixture.listPeople(admin.key, requestId, `?status=${status}`);
    expect(listed).toEqual(people.filter((person) => person.status === status));
  }
  await checkCache(fixture.app, model);
}

/** The cache of each reader is the last acknowledgement of the history. */
async function checkCache({ db }: TestApp, model: AcknowledgementModel): Promise<void> {
  for (const id of model.list('reader')) {
    const row = await db.collection<ReaderRow>('acknowledgement_readers').findOne({ _id: id });
    const last = model.acknowledgements.findLast(({ personId }) => personId === id);
    expect(row?.acknowledged_document_id).toBe(last?.versionId);
    expect(row?.acknowledged_at?.getTime()).toBe(last?.at);
  }
}

test('status, totals, lists and cache equal the model after every story', async () => {
  const numRuns = Number(process.env.MODEL_RUNS ?? 4);
  await fc.assert(
    fc.asyncProperty(story, async (taken) => {
      const run = await begin();
      for (const { step, pick } of taken) await take(run, step, pick);
      await check(run);
    }),
    { numRuns, endOnFailure: true },
  );
}, 600_000);
