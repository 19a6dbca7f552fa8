/** Integrations that create organizations and documents without a pause, until they are stopped. */
import { type RetryingClient, until, type WebhookReceiver } from '#libs/testing';
import { createTenant, type TestTenant } from './tenant.ts';

/** Running integrations. */
export interface Integrations {
  /** The organizations that they have created. */
  tenants: TestTenant[];
  /** The number of documents that were accepted. */
  countDocuments(): number;
  /** Resolves when one more document for each integration was accepted. Rejects if an integration failed. */
  progress(): Promise<void>;
  /** Resolves when all integrations have stopped. Rejects as soon as one of them fails. */
  ended: Promise<void>;
  /** Lets the integrations finish their current document. Rejects if one of them failed. */
  stop(): Promise<void>;
}

/** Starts `count` integrations. Each creates a new organization after it has written six documents. */
export function startIntegrations(
  api: RetryingClient,
  receiver: Pick<WebhookReceiver, 'urlFor'>,
  count: number,
): Integrations {
  const tenants: TestTenant[] = [];
  let isOver = false;
  const run = async () => {
    while (!isOver) {
      const { tenant, round } = await createTenant(api, receiver.urlFor);
      tenants.push(tenant);
      for (let rounds = 0; rounds < 2 && !isOver; rounds += 1) await round(3);
    }
  };
  const work = Promise.all(Array.from({ length: count }, run)).then(() => {});
  // `progress`, `ended` and `stop` report a failure
  work.catch(() => undefined);
  const countDocuments = () => tenants.reduce((sum, { documents }) => sum + documents.length, 0);
  return {
    tenants,
    countDocuments,
    ended: work,
    async progress() {
      const goal = countDocuments() + count;
      const more = until('more documents', async () => isOver || countDocuments() >= goal, 120_000);
      // a failed integration ends the wait
      await Promise.race([more, work]);
    },
    async stop() {
      isOver = true;
      await work;
    },
  };
}
