/** Simulates tenants during faults and checks that no accepted work is lost or duplicated. */
import { isDeepStrictEqual } from 'node:util';
import { listAll, type RetryingClient, until, type WebhookReceiver } from '#libs/testing';
import { findWrongPosts } from '../../tests/chaos/checker.ts';
import { toPosts } from '../../tests/chaos/violations.ts';
import { inOrder, receivedEvents } from '../../tests/chaos/workload/observed-state.ts';
import { createTenant, type TestTenant } from '../../tests/chaos/workload/tenant.ts';

/** Creates a tenant with an API key, a webhook and some documents. */
export async function createWorkingTenant(
  api: RetryingClient,
  receiver: WebhookReceiver,
): Promise<TestTenant> {
  const { tenant, round } = await createTenant(api, receiver.urlFor);
  await round(1);
  return tenant;
}

/** Runs two tenants that work while `fault` runs and then finish their current round. */
export async function workDuring(
  api: RetryingClient,
  receiver: WebhookReceiver,
  fault: () => Promise<void>,
): Promise<TestTenant[]> {
  const tenants: TestTenant[] = [];
  let isOver = false;
  const runTenant = async () => {
    const { tenant, round } = await createTenant(api, receiver.urlFor);
    tenants.push(tenant);
    while (!isOver) await round(2);
  };
  const work = Promise.all([runTenant(), runTenant()]);
  try {
    // a failing tenant also ends the fault
    await Promise.race([fault(), work]);
  } finally {
    isOver = true;
    await work;
  }
  return tenants;
}

/** Compares a tenant's accepted work with the API and with its webhook. Rejects with the first difference. */
export async function checkTenant(
  api: RetryingClient,
  receiver: WebhookReceiver,
  tenant: TestTenant,
): Promise<void> {
  const ids = tenant.documents.map(({ id }) => id).sort();
  const documents = await listAll<{ id: string }>(api, '/documents?limit=100', tenant.key);
  const found = documents.map(({ id }) => id);
  if (!isDeepStrictEqual(found.sort(), ids))
    throw new Error(`The API has ${found.length} of ${ids.length} accepted documents`);
  for (const { id, nodeIds } of tenant.documents) {
    const { body } = await api.request('GET', `/documents/${id}`, { as: tenant.key });
    if (body.status !== 'published') throw new Error(`Document ${id} has the status ${body.status}`);
    const found = collectNodeIds(body.nodes).sort();
    if (!isDeepStrictEqual(found, [...nodeIds].sort()))
      throw new Error(`Document ${id} has the nodes ${found} instead of ${nodeIds}`);
  }
  await until(
    `one delivery per event at the webhook of ${tenant.slug}`,
    async () => isDeepStrictEqual(inOrder(receivedEvents(receiver, tenant)), inOrder(tenant.changes)),
    120_000,
  );
  const posts = toPosts(receiver.requestsTo(tenant.slug), [tenant.webhook]);
  const wrong = findWrongPosts({ posts, secrets: new Map([[tenant.webhook.id, [tenant.webhook.secret]]]) });
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}

function collectNodeIds(nodes: { id: string; children: [] }[]): string[] {
  return nodes.flatMap(({ id, children }) => [id, ...collectNodeIds(children)]);
}
