/** Tests listeners with two replicas over RabbitMQ: each gets every event, whichever replica it asks. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import {
  createDocument,
  type HttpClient,
  must,
  register,
  type TestApp,
  type TestRabbit,
  testApp,
  testRabbit,
  until,
} from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import type { ListenedEvent } from '../contract.ts';
import { webhookDelivery } from '../service.ts';

const services = [identity, documents, webhookDelivery];

let rabbit: TestRabbit;
let app: TestApp;
let replicas: [HttpClient, HttpClient];

beforeAll(async () => {
  rabbit = await testRabbit();
  const AMQP_PREFIX = `test-${randomBytes(4).toString('hex')}.`;
  const environment = { AMQP_URL: rabbit.url, AMQP_PREFIX };
  app = await testApp({ services, contracts: services.map(({ contract }) => contract), environment });
  replicas = [app, await app.replica()];
});
afterAll(async () => {
  await app?.stop();
  await rabbit?.stop();
});

test('every listener gets every event that follows its start', async () => {
  const { key: as } = await register(app);
  const listeners: { received: Set<string>; reading: Promise<void> }[] = [];
  /** The published documents, with the number of listeners that were started before. */
  const published: { id: string; listenerCount: number }[] = [];
  const missing = (listener: number, received: Set<string>) =>
    published.filter(({ id, listenerCount }) => listenerCount > listener && !received.has(id));
  let isWriting = true;
  /** Whether the last document is published: the writers finish one after `isWriting` ends. */
  let isWritten = false;
  const publish = async (client: HttpClient, id: string) => {
    const listenerCount = listeners.length;
    await must(client, 'POST', `/documents/${id}/publish`, { as, status: 200 });
    published.push({ id, listenerCount });
  };
  const write = async (client: HttpClient) => {
    while (isWriting) await publish(client, (await createDocument(client, as)).id);
  };
  const writing = [...replicas, ...replicas].map((client) => write(client));
  for (let number = 0; number < 6; number += 1) {
    const client = replicas[number % 2] ?? app;
    const draft = await createDocument(client, as);
    const listener = await must(client, 'POST', '/webhooks/listeners', { as });
    const received = new Set<string>();
    const isComplete = () => isWritten && missing(number, received).length === 0;
    listeners.push({ received, reading: read(as, listener, received, isComplete) });
    // no replica may still use a list of listeners without this one
    await publish(client, draft.id);
  }
  const afterAllStarts = ({ listenerCount }: { listenerCount: number }) => listenerCount === listeners.length;
  await until('40 more documents', async () => published.filter(afterAllStarts).length >= 40);
  isWriting = false;
  await Promise.all(writing);
  isWritten = true;
  for (const [number, { received, reading }] of listeners.entries()) {
    await reading;
    expect(missing(number, received)).toEqual([]);
  }
});

/** Reads the events of a listener from both replicas in turn, like a client, until all of them have arrived. */
async function read(
  as: string,
  { id, secret }: { id: string; secret: string },
  received: Set<string>,
  isComplete: () => boolean,
): Promise<void> {
  let unchanged = 0;
  // an event that has not come with 30 further responses is lost
  for (let count = 0; !isComplete() && unchanged < 30; count += 1) {
    const client = replicas[count % 2] ?? app;
    const path = `/webhooks/listeners/${id}`;
    const events: ListenedEvent[] = await must(client, 'GET', `${path}/events?wait_seconds=1&limit=7`, {
      as,
    });
    for (const { headers, body } of events) {
      new Verifier(secret).verify(body, headers);
      received.add(JSON.parse(body).data.document?.id);
    }
    unchanged = events.length > 0 ? 0 : unchanged + 1;
    const event_ids = events.map(({ event_id }) => event_id);
    if (event_ids.length > 0) await must(client, 'POST', `${path}/confirm`, { as, body: { event_ids } });
  }
}
