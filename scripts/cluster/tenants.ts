/** Simulates tenants during faults and checks that no accepted work is lost or duplicated. */
import { isDeepStrictEqual } from 'node:util';
import { until } from '#libs/testing';
import { type Client, client } from '../../tests/chaos/workload/client.ts';
import { inOrder, receivedEvents } from '../../tests/chaos/workload/invariants.ts';
import type { ChaosReceiver } from '../../tests/chaos/workload/receiver.ts';
import { createTenant, type TestTenant } from '../../tests/chaos/workload/tenant.ts';

/** Creates a tenant with an API key, a webhook and some documents. */
export async function createWorkingTenant(api: Client, receiver: ChaosReceiver): Promise<TestTenant> {
  const { tenant, round } = await createTenant(api.request, receiver.urlFor);
  await round(1);
  return tenant;
}

/** Runs two tenants that work while `fault` runs and then finish their current round. */
export async function workDuring(
  api: Client,
  receiver: ChaosReceiver,
  fault: () => Promise<void>,
): Promise<TestTenant[]> {
  const tenants: TestTenant[] = [];
  let isOver = false;
  const runTenant = async () => {
    const { tenant, round } = await createTenant(api.request, receiver.urlFor);
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
  origin: string,
  receiver: ChaosReceiver,
  tenant: TestTenant,
): Promise<void> {
  const api = client(origin);
  const ids = tenant.documents.map(({ id }) => id).sort();
  const found = await listDocumentIds(origin, tenant);
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
}

/** Returns the ids of all documents of a tenant. */
async function listDocumentIds(origin: string, { key }: TestTenant): Promise<string[]> {
  const ids: string[] = [];
  let next: string | undefined = '/api/v1/documents?limit=100';
  while (next !== undefined) {
    const response: Response = await fetch(new URL(next, origin), {
      headers: { authorization: `Bearer ${key}` },
    });
    if (!response.ok) throw new Error(`${next} returned ${response.status}`);
    // the API returns a list of documents
    ids.push(...((await response.json()) as { id: string }[]).map(({ id }) => id));
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return ids;
}

function collectNodeIds(nodes: { id: string; children: [] }[]): string[] {
  return nodes.flatMap(({ id, children }) => [id, ...collectNodeIds(children)]);
}
