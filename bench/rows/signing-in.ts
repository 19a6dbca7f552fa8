/** Signing in: what a login costs, and what it costs everybody else when many people do it at the same time. */
import { randomBytes } from 'node:crypto';
import type { BenchFixture, Side } from '../fixture.ts';
import type { Asked } from '../load.ts';
import { cpuMsOf } from '../process-usage.ts';
import { httpRow, type Row, type Sample } from '../row.ts';
import { smallDocument } from './trees.ts';

const people = 32;

/** The logins of people who have just registered: at no time do many of them come for one account. */
async function loginsOf(stage: BenchFixture): Promise<(i: number) => Asked> {
  const logins = await Promise.all(Array.from({ length: people }, () => loginOf(stage)));
  // the remainder is always that of somebody
  return (i) => logins[i % people] as Asked;
}

async function loginOf({ api }: BenchFixture): Promise<Asked> {
  const unique = randomBytes(6).toString('hex');
  const account = { email: `ada-${unique}@example.com`, password: `correct horse ${unique}` };
  const more = { name: 'Ada Example', organization_name: `Bench ${unique}` };
  await api({ key: '' }, 'POST', '/auth/register', { ...account, ...more });
  return { method: 'POST', path: '/api/v1/auth/login', body: account };
}

/** Nearly all of it is scrypt, on either side. */
export const logIn = httpRow({
  name: 'log in',
  goal: 1.2,
  remark: 'scrypt with 32 MiB on both sides; floor: as many at once as come',
  requests: 32,
  connections: 16,
  floor: 'logIn',
  same: 'shape',
  async prepare(stage) {
    const loginAt = await loginsOf(stage);
    return async () => loginAt;
  },
});

const reads = 400;
const atTheSameTime = 16;

/** Somebody keeps reading a document, in a storm of logins and without one. */
export const readBesideLogins: Row = {
  name: 'read a document while 16 log in, against without',
  remark:
    'floor: ours too, while nobody logs in; CPU time is the whole process’s, that of the logins too; look at the p99',
  unit: 'request',
  async prepare(stage, share) {
    const loginAt = await loginsOf(stage);
    const { id } = await stage.api(stage.home, 'POST', '/documents', smallDocument);
    const read: Asked = { method: 'GET', path: `/api/v1/documents/${id}`, key: stage.home.key };
    const { pid } = stage.programs.ours;
    const client = stage.clients.ours;
    return {
      async batch(side: Side): Promise<Sample> {
        const count = Math.max(1, Math.round(reads * share));
        let isOver = side === 'floor';
        const person = async (i: number) => {
          while (!isOver) await client.ask(loginAt(i));
        };
        const storm = Promise.all(Array.from({ length: atTheSameTime }, (_, i) => person(i)));
        const cpuBefore = cpuMsOf(pid);
        const startedAt = performance.now();
        const { p99Ms } = await client
          .load(count, () => read)
          .finally(() => {
            isOver = true;
          });
        const wallMs = performance.now() - startedAt;
        const cpuMs = cpuMsOf(pid) - cpuBefore;
        await storm;
        return { count, wallMs, cpuMs, p99Ms };
      },
    };
  },
};
