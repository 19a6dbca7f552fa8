/** The fixture for tests of admission control: a server whose requests wait or compute until a test ends them. */
import { z } from 'zod';
import { operation } from '#libs/contract';
import { type AdmissionLimits, type Authenticate, createAdmission, handle } from '#libs/http';
import { httpFixture, insider } from './http-fixture.ts';
import { until } from './until.ts';

const common = { summary: '', access: insider, status: 200, returns: z.unknown(), problems: [] } as const;
const wait = operation({ ...common, id: 'wait', method: 'get', path: '/wait' });
const poll = operation({ ...common, id: 'poll', method: 'get', path: '/poll', longPoll: true });
const work = operation({ ...common, id: 'work', method: 'get', path: '/work' });
const write = operation({ ...common, id: 'write', method: 'post', path: '/write', body: z.object({}) });
const ping = operation({ ...common, id: 'ping', method: 'get', path: '/ping' });

/** The beginning of a request whose body, `{}`, follows when the server asks for it. */
export const headOfWrite = [
  'POST /api/v1/write HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json',
  'Content-Length: 2\r\nExpect: 100-continue\r\n\r\n',
].join('\r\n');

/** Blocks the event loop, as computing does. */
export function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** A server with admission control. */
export type AdmissionFixture = Awaited<ReturnType<typeof admissionFixture>>;

/**
 * Starts the server. `/wait` and `/poll` wait until `endWaiting`, `/work` blocks the event loop in each of its turns
 * while `state.isBusy`, `/write` has a body, and `/ping` responds at once.
 */
export async function admissionFixture(limits: AdmissionLimits, authenticate?: Authenticate) {
  const waiting: (() => void)[] = [];
  let starts = 0;
  const state = {
    isBusy: true,
    /** The requests that compute at the moment. */
    running: 0,
    /** The largest number of requests that began to wait in one turn of the event loop. */
    mostStarts: 0,
  };
  const http = await httpFixture(
    [
      handle(wait, async () => {
        countStart();
        return new Promise((resolve) => waiting.push(() => resolve({})));
      }),
      handle(poll, async () => new Promise((resolve) => waiting.push(() => resolve({})))),
      handle(work, async () => {
        state.running += 1;
        while (state.isBusy) {
          block(4);
          await new Promise((resolve) => setImmediate(resolve));
        }
        state.running -= 1;
        return {};
      }),
      handle(write, async () => ({})),
      handle(ping, async () => ({})),
    ],
    { admission: createAdmission(limits), ...(authenticate && { authenticate }) },
  );

  return {
    ...http,
    state,
    waiting,
    ask: (path: string) => http.ask('GET', `/api/v1${path}`),
    askTimes: (count: number, path: string) =>
      Array.from({ length: count }, () => http.ask('GET', `/api/v1${path}`)),
    /** Responds to the requests that wait. */
    endWaiting() {
      for (const end of waiting.splice(0)) end();
    },
    async stop() {
      state.isBusy = false;
      await http.listening.close(0);
      await until('no request computes', async () => state.running === 0);
    },
  };

  function countStart(): void {
    starts += 1;
    if (starts > 1) state.mostStarts = Math.max(state.mostStarts, starts);
    else
      setImmediate(() => {
        starts = 0;
      });
  }
}
