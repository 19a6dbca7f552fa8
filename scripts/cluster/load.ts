/** Clients that never ask twice: whatever is not the answer they expect has failed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { TestTenant } from '../../tests/chaos/workload/tenant.ts';

/** What clients were told. */
export interface Counted {
  requests: number;
  /** The first few of those that failed, and how many there were. */
  failures: string[];
  failed: number;
}

/** Requests of every service, each with the status that it must have. */
const requests = [
  { method: 'GET', path: () => '/api/v1/me', status: 200 },
  { method: 'GET', path: () => '/api/v1/documents', status: 200 },
  { method: 'POST', path: () => '/api/v1/documents', status: 201 },
  { method: 'GET', path: ({ id }: Known) => `/api/v1/documents/${id}`, status: 200 },
  { method: 'GET', path: ({ link }: Known) => `/embed/${link}`, status: 200 },
  { method: 'GET', path: ({ id }: Known) => `/api/v1/documents/${id}/share-token`, status: 200 },
  { method: 'GET', path: ({ id }: Known) => `/api/v1/documents/${id}/export/markdown`, status: 200 },
  { method: 'GET', path: () => '/api/v1/templates', status: 200 },
  { method: 'GET', path: () => '/api/v1/webhooks', status: 200 },
];

interface Known {
  id: string;
  link: string;
}

/** Asks with so many clients at once as long as the work takes; gives what they were told. */
export async function underLoad(
  { origin, office, clients }: { origin: string; office: TestTenant; clients: number },
  work: () => Promise<void>,
): Promise<Counted> {
  const [written] = office.documents;
  if (!written) throw new Error('The office has no document to ask for');
  const known = { id: written.id, link: `${office.slug}/${written.shareToken}` };
  const counted: Counted = { requests: 0, failures: [], failed: 0 };
  let isOver = false;

  const one = async (start: number) => {
    for (let at = start; !isOver; at += 1) {
      const asked = requests[at % requests.length] ?? requests[0];
      if (!asked) return;
      counted.requests += 1;
      const fault = await faultOf(origin, asked, known, office.key);
      if (fault === undefined) continue;
      counted.failed += 1;
      if (counted.failures.length < 10) counted.failures.push(fault);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, (_, at) => one(at * 2)));
  try {
    // some before and some after
    await pause(2_000);
    await work();
    await pause(2_000);
  } finally {
    isOver = true;
    await all;
  }
  return counted;
}

async function faultOf(
  origin: string,
  { method, path, status }: (typeof requests)[number],
  known: Known,
  key: string,
): Promise<string | undefined> {
  const at = path(known);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = method === 'POST' ? JSON.stringify({ title: 'Written under load' }) : null;
  try {
    const response = await fetch(origin + at, { method, headers, body, signal: AbortSignal.timeout(20_000) });
    const text = await response.text();
    return response.status === status
      ? undefined
      : `${method} ${at}: ${response.status} ${text.slice(0, 200)}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause ? `: ${error.cause}` : '';
    return `${method} ${at}: ${error}${cause}`;
  }
}
