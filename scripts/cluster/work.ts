/** Work that goes on while pods are killed, and its accounts: nothing that was accepted is lost, and nothing is there twice. */
import { isDeepStrictEqual } from 'node:util';
import { until } from '#libs/testing';
import { type Client, client } from '../../tests/chaos/workload/client.ts';
import { inOrder, receivedEvents } from '../../tests/chaos/workload/invariants.ts';
import type { ChaosReceiver } from '../../tests/chaos/workload/receiver.ts';
import { createTenant, type TestTenant } from '../../tests/chaos/workload/tenant.ts';

/** An office at its first work: it has a key, a webhook and some documents. */
export async function workingOffice(api: Client, mail: ChaosReceiver): Promise<TestTenant> {
  const { tenant: office, round } = await createTenant(api.request, mail.urlFor);
  await round(1);
  return office;
}

/** Offices that work as long as `fault` takes, and go on until their last piece is done. */
export async function workingThrough(
  api: Client,
  mail: ChaosReceiver,
  fault: () => Promise<void>,
): Promise<TestTenant[]> {
  const offices: TestTenant[] = [];
  let isOver = false;
  const integration = async () => {
    const { tenant: office, round } = await createTenant(api.request, mail.urlFor);
    offices.push(office);
    while (!isOver) await round(2);
  };
  const work = Promise.all([integration(), integration()]);
  try {
    // an integration that gives up ends the fault's time too
    await Promise.race([fault(), work]);
  } finally {
    isOver = true;
    await work;
  }
  return offices;
}

/** Settles the accounts of an office by what the API and its webhook say; rejects with what does not fit. */
export async function settled(origin: string, mail: ChaosReceiver, office: TestTenant): Promise<void> {
  const api = client(origin);
  const ids = office.documents.map(({ id }) => id).sort();
  const found = await documentsOf(origin, office);
  if (!isDeepStrictEqual(found.sort(), ids))
    throw new Error(`Of ${ids.length} accepted documents there are ${found.length}`);
  for (const { id, nodeIds } of office.documents) {
    const { body } = await api.request('GET', `/documents/${id}`, { as: office.key });
    if (body.status !== 'published') throw new Error(`${id} is ${body.status}`);
    const there = nodesIn(body.nodes).sort();
    if (!isDeepStrictEqual(there, [...nodeIds].sort()))
      throw new Error(`${id} has the nodes ${there} instead of ${nodeIds}`);
  }
  await until(
    `every event of ${office.slug} at its webhook, once`,
    async () => isDeepStrictEqual(inOrder(receivedEvents(mail, office)), inOrder(office.changes)),
    120_000,
  );
}

/** The ids of all documents of an office, page by page. */
async function documentsOf(origin: string, { key }: TestTenant): Promise<string[]> {
  const ids: string[] = [];
  let next: string | undefined = '/api/v1/documents?limit=100';
  while (next !== undefined) {
    const response: Response = await fetch(new URL(next, origin), {
      headers: { authorization: `Bearer ${key}` },
    });
    if (!response.ok) throw new Error(`${next} answered ${response.status}`);
    // the API's list
    ids.push(...((await response.json()) as { id: string }[]).map(({ id }) => id));
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return ids;
}

function nodesIn(nodes: { id: string; children: [] }[]): string[] {
  return nodes.flatMap(({ id, children }) => [id, ...nodesIn(children)]);
}
