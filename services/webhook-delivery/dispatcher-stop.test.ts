/** What a stop does with deliveries that were claimed and not yet sent. */
import { setImmediate as afterOthers } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { until } from '#libs/testing';
import { createDispatcher, type DispatcherDeps } from './dispatcher.ts';
import { createCircuitBreakers } from './rules/circuit-breaker.ts';
import { formatSecret } from './rules/signature.ts';
import type { Receiver } from './store/configs.ts';
import type { ClaimedRow } from './store/queue.ts';
import { untraced } from './testing/untraced.ts';

/** A queue with these due rows, which writes down what is done with them; `claiming` is waited for in every claim. */
function fakes(rows: readonly ClaimedRow[], claiming: () => Promise<void>) {
  const done: string[] = [];
  const note = (what: string) => async () => {
    done.push(what);
  };
  const waiting = new Set(rows);
  const of: DispatcherDeps = {
    queue: {
      findDue: async () => [...waiting],
      async claim() {
        await claiming();
        waiting.clear();
        return [...rows];
      },
      async countAttempts(claimed) {
        done.push('count');
        return claimed.map((row) => ({ ...row, attempts: row.attempts + 1 }));
      },
      finish: note('finish'),
      release: note('give back'),
      sweep: async () => 0,
      backlog: async () => ({ count: 0, oldestSeconds: 0 }),
      getEvents: async () => new Map(rows.map(({ event_id }) => [event_id, { body: '{}' }])),
    },
    postponements: { postpone: async () => 0, resume: note('resume') },
    metrics: { recordAttempt: () => undefined, recordFinished: () => undefined },
    breakers: createCircuitBreakers({ firstPauseMs: 1, maxPauseMs: 1 }),
    configs: {
      getReceivers: async () => new Map(rows.map(({ config_id }) => [config_id, receiverOf(config_id)])),
      disable: note('switch off'),
    },
    sender: {
      async send() {
        done.push('send');
        return { http_status: 200, duration_ms: 1, error: null, retry_after: undefined };
      },
      checkTarget: async () => undefined,
      inFlight: () => 0,
      close: note('close'),
    },
    tracing: untraced,
    log: { info: () => undefined },
    delaysMs: [1, 1],
    lockMs: 1_000,
    retryForMs: 1_000,
    now: () => new Date(),
    random: () => 0,
    onError: () => undefined,
  };
  return { of, done };
}

function receiverOf(id: string): Receiver {
  const secrets = [new Secret(formatSecret(new Uint8Array(32)))];
  return { id, url: 'https://example.com/', isActive: true, secrets };
}

function row(): ClaimedRow {
  const ids = { _id: newId(), event_id: newId(), config_id: newId(), organization_id: newId() };
  return { ...ids, event_type: 'document.published', attempts: 0, lock_token: newId() };
}

test('a row claimed during a stop is released, uncounted and unsent', async () => {
  let claiming = false;
  let release: () => void = () => undefined;
  const { of, done } = fakes([row(), row()], async () => {
    claiming = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const worker = createDispatcher(of);
  worker.start();
  await until('the claim', async () => claiming);
  const stopping = worker.stop();
  release();
  await stopping;
  expect(done).toEqual(['give back', 'close']);
});

test('an attempt is counted before its request and recorded after it', async () => {
  const { of, done } = fakes([row()], async () => undefined);
  const worker = createDispatcher(of);
  worker.start();
  await until('the record', async () => done.includes('finish'));
  await worker.stop();
  expect(done).toEqual(['count', 'send', 'finish', 'close']);
});

const draftOf = ({ lock_token: _, ...row }: ClaimedRow) => ({
  row,
  receiver: receiverOf(row.config_id),
  event: { body: '{}' },
});

/** A worker that has nothing else to do. */
function idle() {
  const { of, done } = fakes([], async () => undefined);
  return { of, done, worker: createDispatcher(of) };
}

test('a delivery with a reserved slot is sent without a claim', async () => {
  const { done, worker } = idle();
  worker.start();
  const draft = draftOf(row());
  const booking = worker.reserve([draft]);
  expect([...booking.ids]).toEqual([draft.row._id]);
  expect(done).toEqual([]);
  booking.confirm(booking.ids);
  await until('the record', async () => done.includes('finish'));
  await worker.stop();
  expect(done).toEqual(['send', 'finish', 'close']);
});

test('a delivery without a reserved slot is claimed and counted', async () => {
  const fresh = row();
  const { of, done } = fakes([fresh], async () => undefined);
  of.queue.findDue = async () => [];
  const worker = createDispatcher(of);
  worker.start();
  const draft = draftOf(fresh);
  const others = Array.from({ length: 4 }, () => draftOf({ ...row(), config_id: fresh.config_id }));
  const before = worker.reserve(others);
  const booking = worker.reserve([draft]);
  expect([before.ids.size, booking.ids.size]).toEqual([4, 0]);
  booking.confirm(new Set([draft.row._id]));
  before.cancel();
  await until('the record', async () => done.includes('finish'));
  await worker.stop();
  expect(done).toEqual(['count', 'send', 'finish', 'close']);
});

test('a reservation sends only inserted deliveries and frees other slots', async () => {
  const { done, worker } = idle();
  worker.start();
  const config_id = newId();
  const drafts = Array.from({ length: 4 }, () => draftOf({ ...row(), config_id }));
  const booking = worker.reserve(drafts);
  booking.confirm(new Set(drafts.slice(0, 1).map(({ row }) => row._id)));
  const others = worker.reserve(drafts.slice(1));
  expect(others.ids.size).toBe(3);
  others.cancel();
  await worker.stop();
  expect(done).toEqual(['send', 'finish', 'close']);
});

test('a cancelled reservation sends nothing and frees its slots', async () => {
  const { done, worker } = idle();
  worker.start();
  const config_id = newId();
  const drafts = Array.from({ length: 4 }, () => draftOf({ ...row(), config_id }));
  const booking = worker.reserve(drafts);
  booking.cancel();
  booking.confirm(booking.ids);
  const again = worker.reserve(drafts);
  expect(again.ids.size).toBe(4);
  again.cancel();
  await worker.stop();
  expect(done).toEqual(['close']);
});

test('a delivery that took too long to insert is not sent', async () => {
  const { of, done } = fakes([], async () => undefined);
  const worker = createDispatcher({ ...of, lockMs: 3 });
  worker.start();
  const booking = worker.reserve([draftOf(row())]);
  const bookedAt = performance.now();
  await until('a third of the lock to be over', async () => performance.now() > bookedAt + 2);
  booking.confirm(booking.ids);
  await worker.stop();
  expect(done).toEqual(['close']);
});

test('a webhook without a readable secret gets no reserved slot', async () => {
  const { worker } = idle();
  worker.start();
  const draft = draftOf(row());
  expect(worker.reserve([{ ...draft, receiver: { ...draft.receiver, secrets: [] } }]).ids.size).toBe(0);
  await worker.stop();
});

test('an endpoint with an open circuit breaker gets no reserved slot', async () => {
  const { of } = fakes([], async () => undefined);
  const [alone, other] = [draftOf(row()), draftOf(row())];
  const open = createCircuitBreakers({ firstPauseMs: 60_000, maxPauseMs: 60_000 });
  for (let failures = 0; failures < 5; failures += 1)
    open.recordFailure(alone.row.config_id, performance.now());
  const worker = createDispatcher({ ...of, breakers: open });
  worker.start();
  const booking = worker.reserve([alone, other]);
  expect(booking.ids).toEqual(new Set([other.row._id]));
  booking.cancel();
  await worker.stop();
});

test('a stop waits for open reservations and sends their deliveries', async () => {
  const { done, worker } = idle();
  worker.start();
  const booking = worker.reserve([draftOf(row())]);
  const stopping = worker.stop();
  for (let turn = 0; turn < 10; turn += 1) await afterOthers();
  expect(done).toEqual([]);
  booking.confirm(booking.ids);
  await stopping;
  expect(done).toEqual(['send', 'finish', 'close']);
});

test('no slot is reserved before the start or after the stop', async () => {
  const { worker } = idle();
  expect(worker.reserve([draftOf(row())]).ids.size).toBe(0);
  worker.start();
  await worker.stop();
  expect(worker.reserve([draftOf(row())]).ids.size).toBe(0);
});
