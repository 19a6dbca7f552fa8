/** Hostile request bodies. Each names its operation, creates its body and says how it must be answered. */
import { gzipSync } from 'node:zlib';
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
  {
    name: 'a tree of 1,000 levels',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () => `{"title":"x","nodes":${'[{"node_type":"section","title":"x","children":'.repeat(1_000)}`,
    expected: [400, 'malformed_json'],
  },
  {
    name: 'an object with 150,000 unknown names',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 150_000 }, (_, at) => [`k${at}`, 1]))),
    expected: [400, 'invalid_request'],
  },
  {
    name: '10,000 texts with 60 mistakes each',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () => {
      const mistakes = Array.from({ length: 60 }, () => ({ x: 1 }));
      const node = { node_type: 'section', title: 'x', content: { type: 'doc', content: mistakes } };
      return JSON.stringify({ title: 'x', nodes: Array.from({ length: 10_000 }, () => node) });
    },
    expected: [400, 'invalid_request'],
  },
  {
    name: '100 MB in 100 KB of gzip',
    ...{ method: 'POST', path: '/documents', headers: { ...json, 'content-encoding': 'gzip' } },
    create: () => gzipSync(Buffer.alloc(100_000_000, ' ')),
    expected: [413, 'payload_too_large'],
  },
  {
    name: 'a multipart boundary of 253 characters',
    method: 'POST',
    path: '/templates',
    headers: { 'content-type': `multipart/form-data; boundary=${'x'.repeat(253)}` },
    create: () => `--${'x'.repeat(253)}\r\n`,
    expected: [400, 'malformed_multipart'],
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
