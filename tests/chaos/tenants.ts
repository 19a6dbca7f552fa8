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

/** Requests of one load at the same time. On a slow machine, the rate falls instead of the requests piling up. */
const maxConcurrent = 50;

/** The functions that stop the running loads. A failed test does not stop its load itself. */
const running = new Set<() => Promise<string[]>>();

/** Stops the loads that a failed test left behind. Call it after each test. */
export async function stopLoads(): Promise<void> {
  await Promise.all([...running].map((stop) => stop()));
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
  const requests = new Set<Promise<unknown>>();
  const startRequest = () => {
    const request = publish(system, tenant)
      .catch((error: Error) => errors.push(error.message))
      .finally(() => requests.delete(request));
    requests.add(request);
  };
  const loop = (async () => {
    while (!isOver && !system.signal.aborted) {
      if (requests.size < maxConcurrent) startRequest();
      // the pause sets the rate
      await pause(1_000 / perSecond);
    }
  })();
  const stop = async () => {
    isOver = true;
    running.delete(stop);
    await loop;
    await Promise.all(requests);
    const isExplained = !errors.some((error) => error.includes(': 500 '));
    return isExplained ? errors : [...errors, ...system.getWarnings()];
  };
  running.add(stop);
  return { stop };
}
