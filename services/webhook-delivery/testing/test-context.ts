/** Test context: an app with webhook delivery, and shortcuts for common steps of its tests. */
import type { AnyService } from '#libs/service';
import {
  createWebhook,
  type Person,
  publishDocument,
  register,
  type TestApp,
  testApp,
  until,
} from '#libs/testing';

/** The fields of a log entry that tests read. */
export interface Entry {
  id: string;
  event_id: string;
  event_type: string;
  status: string;
  attempts: number;
  [field: string]: unknown;
}

/** A test app with shortcuts. */
export interface TestContext {
  app: TestApp;
  createTenant(): Promise<Person>;
  /** Creates a webhook and returns its id and secret. */
  createWebhook(as: Person, url: string, types?: string[]): Promise<{ id: string; secret: string }>;
  /** Creates and publishes a document and returns its id. */
  publish(as: Person): Promise<string>;
  log(as: Person): Promise<Entry[]>;
  /** Waits until the log has this many entries and none is pending, and returns them. */
  untilSettled(as: Person, count: number): Promise<Entry[]>;
}

/**
 * Starts an app with these services. Retries follow after 50 and 100 ms unless the environment overrides
 * this.
 */
export async function testContext(
  services: readonly AnyService[],
  environment: Record<string, string> = {},
  now: () => Date = () => new Date(),
): Promise<TestContext> {
  const app = await testApp({
    services,
    contracts: services.map(({ contract }) => contract),
    now,
    environment: { WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.05,0.1', ...environment },
  });
  const log = async (as: Person) => (await app.request('GET', '/webhooks/events', { as: as.key })).body;
  return {
    app,
    createTenant: () => register(app),
    createWebhook: (as, url, types) => createWebhook(app, as.key, url, types),
    publish: async (as) => (await publishDocument(app, as.key)).id,
    log,
    untilSettled: (as, count) =>
      until(`${count} settled deliveries`, async () => {
        const entries: Entry[] = await log(as);
        return entries.length === count && entries.every(({ status }) => status !== 'pending') && entries;
      }),
  };
}
