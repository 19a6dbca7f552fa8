/** Tests requests about acknowledgement that race each other at two replicas, 200 times each. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type AnyJson,
  describeOutcome,
  type HttpClient,
  type Member,
  must,
  type Person,
  runRounds,
  sendBoth,
  type TestResponse,
  until,
} from '#libs/testing';
import { type AcknowledgementFixture, acknowledgementFixture } from '../testing/acknowledgements.ts';

/** Time for rounds of many requests on a busy machine, in milliseconds. */
const timeoutMs = 600_000;

let fixture: AcknowledgementFixture;
let replica: HttpClient;
let ada: Person;
let guest: Member;

beforeAll(async () => {
  fixture = await acknowledgementFixture();
  replica = await fixture.app.replica();
  ada = await fixture.organization();
  guest = await fixture.member(ada);
}, 120_000);
afterAll(() => fixture?.app.stop());

/** A published document and the request to acknowledge it. */
interface Sample {
  document: AnyJson;
  request: AnyJson;
}

/** A race of two requests; `prepare` returns what both need besides the document and its request. */
interface Race<Prepared> {
  prepare(sample: Sample): Promise<Prepared>;
  first(sample: Sample, prepared: Prepared): Promise<TestResponse>;
  /** Is sent to the other replica. */
  other(sample: Sample, prepared: Prepared): Promise<TestResponse>;
  /** The responses in both orders, as `status code`. */
  outcomes: readonly string[];
  /** Checks the state after the race. */
  check(sample: Sample, outcome: string, prepared: Prepared): Promise<unknown>;
}

async function createSample(): Promise<Sample> {
  const document = await fixture.publish(ada.key);
  const audience = { member_ids: [ada.userId, guest.userId] };
  return { document, request: await fixture.ask(ada.key, document.id, { audience }) };
}

const acknowledge = (client: HttpClient, as: string, { id, content_hash }: AnyJson) =>
  client.request('POST', '/acknowledgements', { as, body: { document_id: id, content_hash } });

/** Creates the draft of the next version. */
async function reviseDraft({ document }: Sample, changes: object): Promise<AnyJson> {
  const as = ada.key;
  const draft = await must(fixture.app, 'POST', `/documents/${document.id}/revise`, { as });
  return must(fixture.app, 'PATCH', `/documents/${draft.id}`, { as, body: { version: '2', ...changes } });
}

const findRecords = ({ request }: Sample): Promise<AnyJson[]> =>
  fixture.app.db.collection('acknowledgements').find({ request_id: request.id }).toArray();

/** Waits until the guest has this status. */
const waitForStatus = ({ request }: Sample, expected: object) =>
  until('the status of the guest', async () => {
    const people = await fixture.listPeople(ada.key, request.id);
    const { status, document_id } = people.find(({ id }) => id === guest.userId) ?? {};
    return JSON.stringify({ status, document_id }) === JSON.stringify(expected);
  });

async function countCompleted({ request }: Sample): Promise<number> {
  const event = { $regex: request.id };
  return fixture.app.db
    .collection('sharing_outbox')
    .countDocuments({ type: 'acknowledgement.completed', event });
}

function testRace<Prepared>(name: string, race: Race<Prepared>): void {
  test(
    `${name}: each outcome is one of an order`,
    async () => {
      const counts = await runRounds(async (round) => {
        const sample = await createSample();
        const prepared = await race.prepare(sample);
        const responses = await sendBoth(
          round,
          () => race.first(sample, prepared),
          () => race.other(sample, prepared),
        );
        const outcome = responses.map(describeOutcome).join(', ');
        expect(race.outcomes).toContain(outcome);
        await race.check(sample, outcome, prepared);
        return outcome;
      });
      // the first two rounds have both orders
      expect([...counts.keys()].sort()).toEqual([...race.outcomes].sort());
    },
    timeoutMs,
  );
}

const nothing = async () => undefined;
const acknowledgeAsGuest = ({ document }: Sample) => acknowledge(fixture.app, guest.token, document);
const publishRevision = (_sample: Sample, draft: AnyJson) =>
  replica.request('POST', `/documents/${draft.id}/publish`, { as: ada.key });

testRace('an acknowledgement and a major revision', {
  prepare: (sample) => reviseDraft(sample, {}),
  first: acknowledgeAsGuest,
  other: publishRevision,
  outcomes: ['201, 200', '400 content_changed, 200'],
  async check(sample, outcome) {
    const versions = (await findRecords(sample)).map(({ document_id }) => document_id);
    expect(versions).toEqual(outcome.startsWith('201') ? [sample.document.id] : []);
    await waitForStatus(sample, { status: 'pending', document_id: null });
  },
});

testRace('an acknowledgement and a minor revision', {
  prepare: (sample) => reviseDraft(sample, { minor_change: true }),
  first: acknowledgeAsGuest,
  other: publishRevision,
  outcomes: ['201, 200', '400 content_changed, 200'],
  check: (sample, outcome) =>
    waitForStatus(
      sample,
      outcome.startsWith('201')
        ? { status: 'acknowledged', document_id: sample.document.id }
        : { status: 'pending', document_id: null },
    ),
});

testRace('two acknowledgements of one person', {
  prepare: nothing,
  first: acknowledgeAsGuest,
  other: ({ document }) => acknowledge(replica, guest.token, document),
  outcomes: ['201, 200', '200, 201'],
  check: async (sample) => expect(await findRecords(sample)).toHaveLength(1),
});

/** The requests that the last two people completed at the same time. */
const completed: Sample[] = [];

testRace('the acknowledgements of the last two people', {
  prepare: nothing,
  first: acknowledgeAsGuest,
  other: ({ document }) => acknowledge(replica, ada.token, document),
  outcomes: ['201, 201'],
  async check(sample) {
    await until('the event', async () => (await countCompleted(sample)) > 0);
    completed.push(sample);
  },
});

test('none of these requests was completed twice', async () => {
  expect(completed).toHaveLength(200);
  for (const sample of completed) expect(await countCompleted(sample)).toBe(1);
});

testRace('an acknowledgement and the end of its request', {
  prepare: nothing,
  first: acknowledgeAsGuest,
  other: ({ request }) =>
    replica.request('POST', `/acknowledgement-requests/${request.id}/close`, { as: ada.key }),
  outcomes: ['201, 200', '400 acknowledgement_request_closed, 200'],
  check: async (sample, outcome) =>
    expect(await findRecords(sample)).toHaveLength(outcome.startsWith('201') ? 1 : 0),
});

testRace('two first requests about a document', {
  prepare: () => fixture.publish(ada.key),
  first: (_sample, { id: document_id }) =>
    fixture.app.request('POST', '/acknowledgement-requests', { as: ada.key, body: { document_id } }),
  other: (_sample, { id: document_id }) =>
    replica.request('POST', '/acknowledgement-requests', { as: ada.key, body: { document_id } }),
  outcomes: ['201, 409 acknowledgement_request_open', '409 acknowledgement_request_open, 201'],
  async check(_sample, _outcome, { id: document_id }) {
    const path = `/acknowledgement-requests?document_id=${document_id}`;
    expect(await must(fixture.app, 'GET', path, { as: ada.key })).toHaveLength(1);
  },
});
