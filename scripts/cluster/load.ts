/** Generates load without retries: every unexpected response counts as a failure. */
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpClient, httpClient } from '#libs/testing';
import type { TestTenant } from '../../tests/chaos/workload/tenant.ts';

/** The responses to all clients. */
export interface LoadResult {
  requests: number;
  /** Descriptions of the first ten failures. */
  failures: string[];
  /** Number of all failures. */
  failed: number;
}

/** Requests to every service, with their expected status. */
const requests = [
  { method: 'GET', path: () => '/api/v1/me', status: 200 },
  { method: 'GET', path: () => '/api/v1/documents', status: 200 },
  { method: 'POST', path: () => '/api/v1/documents', status: 201 },
  { method: 'GET', path: ({ id }: LoadTarget) => `/api/v1/documents/${id}`, status: 200 },
  { method: 'GET', path: ({ link }: LoadTarget) => `/embed/${link}`, status: 200 },
  { method: 'GET', path: ({ id }: LoadTarget) => `/api/v1/documents/${id}/share-token`, status: 200 },
  { method: 'GET', path: ({ id }: LoadTarget) => `/api/v1/documents/${id}/export/markdown`, status: 200 },
  { method: 'GET', path: () => '/api/v1/templates', status: 200 },
  { method: 'GET', path: () => '/api/v1/webhooks', status: 200 },
];

interface LoadTarget {
  id: string;
  link: string;
}

/** Sends requests with `clients` concurrent clients while `work` runs. */
export async function runUnderLoad(
  { origin, tenant, clients }: { origin: string; tenant: TestTenant; clients: number },
  work: () => Promise<void>,
): Promise<LoadResult> {
  const [written] = tenant.documents;
  if (!written) throw new Error('The tenant has no document to request');
  const target = { id: written.id, link: `${tenant.slug}/${written.shareToken}` };
  const result: LoadResult = { requests: 0, failures: [], failed: 0 };
  let isOver = false;
  const client = httpClient(origin, { timeoutMs: 20_000 });

  const runClient = async (start: number) => {
    for (let at = start; !isOver; at += 1) {
      const request = requests[at % requests.length] ?? requests[0];
      if (!request) return;
      result.requests += 1;
      const failure = await sendRequest(client, request, target, tenant.key);
      if (failure === undefined) continue;
      result.failed += 1;
      if (result.failures.length < 10) result.failures.push(failure);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, (_, at) => runClient(at * 2)));
  try {
    // also send requests before and after the work
    await pause(2_000);
    await work();
    await pause(2_000);
  } finally {
    isOver = true;
    await all;
  }
  return result;
}

/** Sends a request. Returns the failure, or undefined if the response has the expected status. */
async function sendRequest(
  client: HttpClient,
  { method, path, status }: (typeof requests)[number],
  target: LoadTarget,
  key: string,
): Promise<string | undefined> {
  const requestPath = path(target);
  const body = method === 'POST' ? { title: 'Written under load' } : undefined;
  try {
    const response = await client.request(method, requestPath, { as: key, body });
    if (response.status === status) return undefined;
    return `${method} ${requestPath}: ${response.status} ${JSON.stringify(response.body).slice(0, 200)}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause ? `: ${error.cause}` : '';
    return `${method} ${requestPath}: ${error}${cause}`;
  }
}
