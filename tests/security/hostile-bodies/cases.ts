/** Hostile request bodies. Each names its operation, creates its body and says how it must be answered. */
import type { Person, TestResponse } from '#libs/testing';

/** A hostile body. */
export interface HostileBody {
  name: string;
  method: 'POST' | 'PUT' | 'PATCH';
  path: string;
  /** Creates the raw body, which is sent unchanged. */
  create(): string | Uint8Array;
  headers?: Record<string, string>;
  /** The expected status and code of the problem. */
  expected: readonly [status: number, code: string];
}

const json = { 'content-type': 'application/json' };

/** The bodies. To add one, add it here: the test sends each of them while other requests run. */
export const hostileBodies: readonly HostileBody[] = [
  {
    name: 'JSON with 100,000 nested lists',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () => `{"title":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    expected: [400, 'malformed_json'],
  },
];

/** Sends other requests, one after the other, until `isOver`. Returns how long the slowest one waited, ms. */
export async function measureOthers(
  send: (as: Person['key']) => Promise<TestResponse>,
  as: Person['key'],
  isOver: () => boolean,
): Promise<{ slowestMs: number; statuses: Set<number> }> {
  let slowestMs = 0;
  const statuses = new Set<number>();
  do {
    const startedAt = performance.now();
    statuses.add((await send(as)).status);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  } while (!isOver());
  return { slowestMs, statuses };
}
