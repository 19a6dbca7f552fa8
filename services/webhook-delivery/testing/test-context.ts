/** A world with webhook delivery in it, for tests, and what people do there. */
import type { AnyService } from '#libs/service';
import { type Person, register, type TestApp, testApp, until } from '#libs/testing';

/** An entry of the event log, as far as tests look at it. */
export interface Entry {
  id: string;
  event_id: string;
  event_type: string;
  status: string;
  attempts: number;
  [field: string]: unknown;
}

/** The world with a few shortcuts. */
export interface TestContext {
  app: TestApp;
  createTenant(): Promise<Person>;
  /** Registers a webhook and gives its id and secret. */
  createWebhook(as: Person, url: string, types?: string[]): Promise<{ id: string; secret: string }>;
  /** Publishes a new document and gives its id. */
  publish(as: Person): Promise<string>;
  log(as: Person): Promise<Entry[]>;
  /** The log, once it has this many entries and none of them is pending. */
  untilSettled(as: Person, count: number): Promise<Entry[]>;
}

/** Starts the world, of identity, documents and webhook delivery; retries come after 50 and 100 ms unless the environment says otherwise. */
export async function testContext(
  services: readonly AnyService[],
  environment: Record<string, string> = {},
  now: () => Date = () => new Date(),
): Promise<TestContext> {
  const here = await testApp({
    services,
    contracts: services.map(({ contract }) => contract),
    now,
    environment: { WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.05,0.1', ...environment },
  });
  const log = async (as: Person) => (await here.request('GET', '/webhooks/events', { as: as.key })).body;
  return {
    app: here,
    createTenant: () => register(here),
    async createWebhook(as, url, types = ['document.published']) {
      const body = { name: 'Hook', url, event_types: types };
      const made = await here.request('POST', '/webhooks', { as: as.key, body });
      if (made.status !== 201) throw new Error(JSON.stringify(made.body));
      return made.body;
    },
    async publish(as) {
      const { id } = (await here.request('POST', '/documents', { as: as.key, body: { title: 'SOP' } })).body;
      const published = await here.request('POST', `/documents/${id}/publish`, { as: as.key });
      if (published.status !== 200) throw new Error(JSON.stringify(published.body));
      return id;
    },
    log,
    untilSettled: (as, count) =>
      until(`${count} settled deliveries`, async () => {
        const entries: Entry[] = await log(as);
        return entries.length === count && entries.every(({ status }) => status !== 'pending') && entries;
      }),
  };
}
