/** The journey under fire, whichever way the system runs: nothing that was accepted is lost, and nothing happens twice. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { type Client, client } from './client.ts';
import { type ChaosFixture, chaosFixture, type Deployment } from './fixture.ts';
import {
  inOrder,
  type Kill,
  messagesLeft,
  receivedEvents,
  said,
  storedNotifications,
  storedRows,
  systemErrors,
  underWay,
  unexpectedRepeats,
} from './invariants.ts';
import { type ChaosReceiver, chaosReceiver } from './receiver.ts';
import { createTenant, type TestTenant } from './tenant.ts';

const integrations = 2;
const broker = 'RabbitMQ';
const newBroker = 'a new RabbitMQ';

/** Which requests are under way when a part is killed. */
const askedOf: Record<string, RegExp> = {
  identity: /^\/(auth|members|api-keys|inbox)/,
  documents: /^\/documents(\/[^/]+\/(nodes|publish))?$/,
  sharing: /^\/(embed|documents\/[^/]+\/share-token)/,
  export: /\/export\//,
  gateway: /./,
};

/** Declares the tests of the journey under fire. */
export function journeyWithFaults(way: Deployment): void {
  let system: ChaosFixture;
  let mail: ChaosReceiver;
  let api: Client;
  const offices: TestTenant[] = [];
  /** Of processes that deliver. */
  const kills: Kill[] = [];

  beforeAll(async () => {
    [system, mail] = await Promise.all([chaosFixture(way), chaosReceiver()]);
    api = client(system.origin);
  }, 400_000);
  afterAll(async () => {
    await system?.stop();
    await mail?.close();
  }, 60_000);

  test('work goes on while every process is killed once and RabbitMQ goes away and comes back', async () => {
    let isOver = false;
    const integration = async () => {
      while (!isOver) {
        const { office, round } = await createTenant(api.request, mail.urlFor);
        offices.push(office);
        for (let rounds = 0; rounds < 2 && !isOver; rounds += 1) await round(3);
      }
    };
    const work = Promise.all(Array.from({ length: integrations }, integration));
    const done = () => offices.reduce((sum, { documents }) => sum + documents.length, 0);
    const progress = async () => {
      const goal = done() + integrations;
      const more = until('more work to be done', async () => isOver || done() >= goal, 120_000);
      // an integration that gives up ends the wait for its work
      await Promise.race([more, work]);
    };
    try {
      await progress();
      for (const name of faultsIn(system)) {
        if (name === broker) await withoutBroker(system, progress);
        else if (name === newBroker) await system.rabbit.start({ empty: true });
        else await killed(name);
        await progress();
      }
    } finally {
      isOver = true;
      mail.release();
    }
    await work;
    expect(api.repeats()).toBeGreaterThan(0);
  }, 400_000);

  /** Kills a part in the midst of its work, and has it started again. */
  async function killed(name: string): Promise<void> {
    const part = system.parts.get(name);
    const asked = askedOf[name];
    // who delivers is killed while the receiver has not answered yet
    if (asked) await until(`a request to ${name}`, async () => api.isRequesting(asked), 60_000);
    else await mail.hold();
    const from = Date.now();
    await part?.revive();
    if (!asked) kills.push({ from, until: Date.now() });
    mail.release();
  }

  test('all that was said comes to its end, and nothing is left in a queue or among dead letters', async () => {
    const nothing = until('nothing under way', async () => (await underWay(system.db)) === 0, 120_000);
    await nothing.catch((error: Error) => {
      throw new Error(`${error.message}\n${systemErrors(system)}`);
    });
    const queues = await until(
      'empty queues',
      async () => {
        const found = await messagesLeft(system);
        return !Object.entries(found).some(([name, count]) => count > 0 && !name.endsWith('.dead')) && found;
      },
      60_000,
    );
    for (const [name, count] of Object.entries(queues)) expect([name, count]).toEqual([name, 0]);
    await until(
      'every delivery',
      async () => (await underWay(system.db)) === 0 && offices.every(isHeard),
      120_000,
    );
  }, 330_000);

  const isHeard = (office: TestTenant) => receivedEvents(mail, office).length >= office.changes.length;

  test('what was accepted is there exactly once', async () => {
    for (const office of offices) {
      const there = await storedRows(system.db, office);
      const documents = office.documents.map(({ id }) => id).sort();
      expect(there).toEqual({
        organizations: 1,
        members: [office.adminId, ...office.joined].sort(),
        keys: 1,
        webhooks: [office.webhook.id],
        documents,
        nodes: office.documents.flatMap(({ nodeIds }) => nodeIds).sort(),
        ledger: documents,
        links: documents,
      });
    }
    expect(await system.db.collection('documents').countDocuments()).toBe(
      offices.reduce((sum, { documents }) => sum + documents.length, 0),
    );
    expect(await system.db.collection('users').countDocuments()).toBe(
      offices.reduce((sum, { joined }) => sum + 1 + joined.length, 0),
    );
    expect(await system.db.collection('organizations').countDocuments()).toBe(offices.length);
  }, 60_000);

  test('every change was said once and came to its webhook under that one id, signed', async () => {
    for (const office of offices) {
      const events = await said(system.db, office);
      expect(inOrder(events)).toEqual(inOrder(office.changes));
      expect(inOrder(receivedEvents(mail, office))).toEqual(inOrder(office.changes));
      expect(
        receivedEvents(mail, office)
          .map(({ id }) => id)
          .sort(),
      ).toEqual(events.map(({ id }) => id).sort());
    }
  }, 60_000);

  test('nothing was sent again but what a killed process had not recorded, and each delivery is delivered', async () => {
    for (const office of offices) {
      expect(unexpectedRepeats(mail, office, kills).map(({ body }) => body)).toEqual([]);
      const log = await api.request('GET', '/webhooks/events?limit=100', { as: office.key });
      expect(log.body).toHaveLength(office.changes.length);
      for (const { status, attempts } of log.body) {
        expect(status).toBe('delivered');
        expect([1, 2, 3]).toContain(attempts);
      }
    }
  }, 60_000);

  test('everybody was told once of what concerns them', async () => {
    for (const office of offices)
      expect(await storedNotifications(system.db, office)).toEqual(
        [
          ...office.joined.map((id) => `${office.adminId} member.joined ${id}`),
          ...office.documents.map(({ id, author }) => `${author} document.published ${id}`),
        ].sort(),
      );
  }, 60_000);

  test('at SIGTERM every process ends with exit code 0', async () => {
    const codes = await system.stop();
    expect(codes).toEqual([...system.parts.keys()].map(() => 0));
  }, 60_000);

  test('nobody’s password, token, key or secret is in what any process printed, before it was killed and after', () => {
    const printed = [...system.parts.values()].flatMap((part) => part.printed().split('\n'));
    expect(api.secrets.findLeaks(printed)).toEqual([]);
    // that is said of logs that are there, and of the secrets of everybody who was told of
    expect(printed.filter((line) => line.includes('"event":"invitation.accept"')).length).toBeGreaterThan(0);
    const people = offices.reduce((sum, { joined }) => sum + 1 + joined.length, 0);
    expect(api.secrets.size()).toBeGreaterThan(2 * people);
  });
}

/**
 * Who is killed, one after the other: first who delivers, because what was in hand takes its time; then RabbitMQ. Where
 * little else is to be killed it also comes back empty: then everything is told a second time.
 */
function faultsIn({ parts }: ChaosFixture): string[] {
  const [delivering, others] = [[...parts.keys()].filter((name) => !askedOf[name]), Object.keys(askedOf)];
  const more = parts.size === 1 ? [newBroker] : others.filter((name) => parts.has(name));
  return [...delivering, broker, ...more];
}

/** Kills RabbitMQ, and starts it again when work was done without it. */
async function withoutBroker({ rabbit }: ChaosFixture, progress: () => Promise<void>): Promise<void> {
  await rabbit.settle();
  // what it is given from now on is gone
  rabbit.freeze();
  await progress();
  await rabbit.kill();
  await progress();
  await rabbit.start();
}
