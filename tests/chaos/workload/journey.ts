/** The chaos journey, for each deployment: no accepted change is lost, and none happens twice. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  apiClient,
  type RetryingClient,
  retryingClient,
  secretScanner,
  slowness,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { findViolations } from '../violations.ts';
import { type ChaosFixture, chaosFixture, type Deployment } from './fixture.ts';
import { startIntegrations } from './integrations.ts';
import {
  countMessages,
  countPending,
  inOrder,
  readChanges,
  receivedEvents,
  storedNotifications,
  storedRows,
  systemErrors,
} from './observed-state.ts';
import type { TestTenant } from './tenant.ts';

const integrations = 2;
const broker = 'RabbitMQ';
const newBroker = 'a new RabbitMQ';

/** The requests that must be in flight when a process is killed. */
const requestsTo: Record<string, RegExp> = {
  identity: /^\/(auth|members|api-keys|inbox)/,
  documents: /^\/documents(\/[^/]+\/(nodes|publish))?$/,
  sharing: /^\/(embed|documents\/[^/]+\/share-token)/,
  export: /\/export\//,
  gateway: /./,
};

/** Declares the tests of the chaos journey for a deployment. */
export function testJourneyWithFaults(way: Deployment): void {
  let system: ChaosFixture;
  let receiver: WebhookReceiver;
  let api: RetryingClient;
  const secrets = secretScanner();
  let tenants: TestTenant[] = [];
  /** When a process that delivers webhooks was killed, and when its successor was ready, Unix ms. */
  const kills: { from: number; until: number }[] = [];

  beforeAll(async () => {
    [system, receiver] = await Promise.all([chaosFixture(way), webhookReceiver()]);
    api = retryingClient(apiClient(system.origin, { secrets, timeoutMs: 20_000 * slowness }));
  }, 400_000);
  afterAll(async () => {
    await system?.stop();
    await receiver?.close();
  });

  test('requests succeed while each process and RabbitMQ are killed once', async () => {
    const working = startIntegrations(api, receiver, integrations);
    tenants = working.tenants;
    const { progress } = working;
    try {
      await progress();
      for (const name of listFaults(system)) {
        if (name === broker) await restartBroker(system, progress);
        else if (name === newBroker) await system.rabbit.start({ empty: true });
        else await killInUse(name);
        await progress();
      }
    } finally {
      receiver.release();
      await working.stop();
    }
    expect(api.retries()).toBeGreaterThan(0);
  }, 400_000);

  /** Kills a process during a request and starts it again. */
  async function killInUse(name: string): Promise<void> {
    const part = system.processes.get(name);
    const path = requestsTo[name];
    // a process that delivers is killed before the receiver has responded
    if (path) await until(`a request to ${name}`, async () => api.isRequesting(path));
    else await receiver.hold();
    const from = Date.now();
    await part?.killAndRestart();
    if (!path) kills.push({ from, until: Date.now() });
    receiver.release();
  }

  test('every event is handled and no message is left in a queue', async () => {
    const nothing = until(
      'no pending events or deliveries',
      async () => (await countPending(system.db)) === 0,
      120_000,
    );
    await nothing.catch((error: Error) => {
      throw new Error(`${error.message}\n${systemErrors(system)}`);
    });
    const queues = await until('empty queues', async () => {
      const found = await countMessages(system);
      return !Object.entries(found).some(([name, count]) => count > 0 && !name.endsWith('.dead')) && found;
    });
    for (const [name, count] of Object.entries(queues)) expect([name, count]).toEqual([name, 0]);
    await until(
      'every delivery',
      async () => (await countPending(system.db)) === 0 && tenants.every(isDelivered),
      120_000,
    );
  }, 330_000);

  const isDelivered = (tenant: TestTenant) =>
    receivedEvents(receiver, tenant).length >= tenant.changes.length;

  test('every accepted change is stored exactly once', async () => {
    for (const tenant of tenants) {
      const stored = await storedRows(system.db, tenant);
      const documents = tenant.documents.map(({ id }) => id).sort();
      expect(stored).toEqual({
        organizations: 1,
        members: [tenant.adminId, ...tenant.joined].sort(),
        keys: 1,
        webhooks: [tenant.webhook.id],
        documents,
        nodes: tenant.documents.flatMap(({ nodeIds }) => nodeIds).sort(),
        ledger: documents,
        links: documents,
      });
    }
    expect(await system.db.collection('documents').countDocuments()).toBe(
      tenants.reduce((sum, { documents }) => sum + documents.length, 0),
    );
    expect(await system.db.collection('users').countDocuments()).toBe(
      tenants.reduce((sum, { joined }) => sum + 1 + joined.length, 0),
    );
    expect(await system.db.collection('organizations').countDocuments()).toBe(tenants.length);
  });

  test('every change has one event, which reached its webhook signed', async () => {
    for (const tenant of tenants) {
      const events = await readChanges(system.db, tenant);
      expect(inOrder(events)).toEqual(inOrder(tenant.changes));
      expect(inOrder(receivedEvents(receiver, tenant))).toEqual(inOrder(tenant.changes));
      expect(
        receivedEvents(receiver, tenant)
          .map(({ id }) => id)
          .sort(),
      ).toEqual(events.map(({ id }) => id).sort());
    }
  });

  test('only killed processes cause repeated POSTs, and all are delivered', async () => {
    const checked = tenants.map((tenant) => {
      return { ...tenant, hooks: [tenant.webhook], published: tenant.documents.map(({ id }) => id) };
    });
    expect(await findViolations({ ...system, ...api }, checked, receiver, { outages: kills })).toEqual([]);
    for (const tenant of tenants) {
      const log = await api.request('GET', '/webhooks/events?limit=100', { as: tenant.key });
      expect(log.body).toHaveLength(tenant.changes.length);
      for (const { status, attempts } of log.body) {
        expect(status).toBe('delivered');
        expect([1, 2, 3]).toContain(attempts);
      }
    }
  });

  test('every member has each notification once', async () => {
    for (const tenant of tenants)
      expect(await storedNotifications(system.db, tenant)).toEqual(
        [
          ...tenant.joined.map((id) => `${tenant.adminId} member.joined ${id}`),
          ...tenant.documents.map(({ id, author }) => `${author} document.published ${id}`),
        ].sort(),
      );
  });

  test('each process exits with 0 on SIGTERM after the faults', async () => {
    const codes = await system.stop();
    expect(codes).toEqual([...system.processes.keys()].map(() => 0));
  });

  test('no process logs a password, token, key or secret', () => {
    const printed = [...system.processes.values()].flatMap((part) => part.printed().split('\n'));
    expect(secrets.findLeaks(printed)).toEqual([]);
    // checks that the logs are not empty and that all secrets were searched
    expect(printed.filter((line) => line.includes('"event":"invitation.accept"')).length).toBeGreaterThan(0);
    const people = tenants.reduce((sum, { joined }) => sum + 1 + joined.length, 0);
    expect(secrets.size()).toBeGreaterThan(2 * people);
  });
}

/**
 * The processes to kill, in order: first those that deliver, because their leases must expire, then RabbitMQ, then the
 * others. With a single process, RabbitMQ also comes back empty at the end, so all events are published again.
 */
function listFaults({ processes }: ChaosFixture): string[] {
  const [delivering, others] = [
    [...processes.keys()].filter((name) => !requestsTo[name]),
    Object.keys(requestsTo),
  ];
  const more = processes.size === 1 ? [newBroker] : others.filter((name) => processes.has(name));
  return [...delivering, broker, ...more];
}

/** Kills RabbitMQ, waits for progress without it, and starts it again. */
async function restartBroker({ rabbit }: ChaosFixture, progress: () => Promise<void>): Promise<void> {
  await rabbit.settle();
  // messages that it gets from now on are lost
  await rabbit.freeze();
  await progress();
  await rabbit.kill();
  await progress();
  await rabbit.start();
}
