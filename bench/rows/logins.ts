/** Rows for logins: the cost of a login, and the latency of other requests under load of logins. */
import { createDocument } from '#libs/testing';
import type { BenchFixture, Side } from '../fixture.ts';
import type { BenchRequest } from '../load.ts';
import { getCpuMs } from '../process-usage.ts';
import { httpRow, type Row, type Sample } from '../row.ts';
import { smallDocument } from './trees.ts';

const userCount = 32;

/**
 * Registers 32 users and returns their logins in turn, so that no account gets many logins at the same time.
 */
async function createLogins(fixture: BenchFixture): Promise<(i: number) => BenchRequest> {
  const logins = await Promise.all(Array.from({ length: userCount }, () => createLogin(fixture)));
  // the remainder is always a valid index
  return (i) => logins[i % userCount] as BenchRequest;
}

async function createLogin(fixture: BenchFixture): Promise<BenchRequest> {
  const { email, password } = await fixture.register();
  return { method: 'POST', path: '/api/v1/auth/login', body: { email, password } };
}

/** A login. On both sides it is almost only scrypt. */
export const logIn = httpRow({
  name: 'log in',
  goal: 1.2,
  remark: 'scrypt with 32 MiB on both sides; baseline: unlimited concurrency',
  requests: 32,
  connections: 16,
  baselineHandler: 'logIn',
  compare: 'shape',
  async prepare(fixture) {
    const loginAt = await createLogins(fixture);
    return async () => loginAt;
  },
});

const reads = 400;
const loginConcurrency = 16;

/** Reads a document repeatedly, with and without concurrent logins. */
export const readUnderLogins: Row = {
  name: 'read a document under load of 16 logins',
  remark: 'paired with the service without logins; the p99 counts, because CPU time includes the logins',
  unit: 'request',
  async prepare(fixture, share) {
    const loginAt = await createLogins(fixture);
    const { id } = await createDocument(fixture.api, fixture.organization.key, smallDocument);
    const read: BenchRequest = {
      method: 'GET',
      path: `/api/v1/documents/${id}`,
      key: fixture.organization.key,
    };
    const { pid } = fixture.processes.service;
    const client = fixture.clients.service;
    return {
      async batch(side: Side): Promise<Sample> {
        const count = Math.max(1, Math.round(reads * share));
        let isOver = side === 'baseline';
        const logInRepeatedly = async (i: number) => {
          while (!isOver) await client.send(loginAt(i));
        };
        const logins = Promise.all(Array.from({ length: loginConcurrency }, (_, i) => logInRepeatedly(i)));
        const cpuBefore = getCpuMs(pid);
        const startedAt = performance.now();
        const { p99Ms } = await client
          .load(count, () => read)
          .finally(() => {
            isOver = true;
          });
        const wallMs = performance.now() - startedAt;
        const cpuMs = getCpuMs(pid) - cpuBefore;
        await logins;
        return { count, wallMs, cpuMs, p99Ms };
      },
    };
  },
};
