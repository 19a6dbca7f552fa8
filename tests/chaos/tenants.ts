/** Organizations with webhooks that publish documents during a fault. */
import { setTimeout as pause } from 'node:timers/promises';
import { createWebhook, publishDocument, register } from '#libs/testing';
import type { System } from './system.ts';
import type { CheckedTenant } from './violations.ts';

/** An organization with an API key and webhooks. */
export interface TestTenant extends CheckedTenant {
  published: string[];
}

/** Registers an organization with one webhook per URL for `document.published`. */
export async function createTenant(system: System, urls: readonly string[]): Promise<TestTenant> {
  const { organizationId, key } = await register(system);
  const hooks = [];
  for (const url of urls) hooks.push(await createWebhook(system, key, url));
  return { organizationId, key, hooks, published: [] };
}

/** Creates and publishes a document. Rejects if a status is not as expected. */
export async function publish(system: System, tenant: TestTenant): Promise<void> {
  tenant.published.push((await publishDocument(system, tenant.key)).id);
}

/**
 * Publishes documents at a constant rate. `stop` waits for open requests and returns their errors, those with the
 * status 500 with the warnings in the logs.
 */
export function startPublishing(
  system: System,
  tenant: TestTenant,
  perSecond: number,
): { stop(): Promise<string[]> } {
  let isOver = false;
  const errors: string[] = [];
  const requests: Promise<unknown>[] = [];
  const loop = (async () => {
    while (!isOver && !system.signal.aborted) {
      requests.push(publish(system, tenant).catch((error: Error) => errors.push(error.message)));
      // the pause sets the rate
      await pause(1_000 / perSecond);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await loop;
      await Promise.all(requests);
      const isExplained = !errors.some((error) => error.includes(': 500 '));
      return isExplained ? errors : [...errors, ...system.getWarnings()];
    },
  };
}
