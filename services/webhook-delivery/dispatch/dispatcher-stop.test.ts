/** Tests reservations and the stop of the dispatcher with fakes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { until } from '#libs/testing';
import { createCircuitBreakers } from '../rules/circuit-breaker.ts';
import { formatSecret } from '../rules/signature.ts';
import type { Receiver } from '../store/configs.ts';
import type { ClaimedRow } from '../store/queue.ts';
import { untraced } from '../testing/untraced.ts';
import { createDispatcher, type DispatcherDeps } from './dispatcher.ts';

/** Creates fake dependencies with these due rows. They record the calls; every claim waits for `claiming`. */
function fakes(rows: readonly ClaimedRow[], claiming: () => Promise<void>) {
  const calls: string[] = [];
  const record = (call: string) => async () => {
    calls.push(call);
  };
  const waiting = new Set(rows);
  const deps: DispatcherDeps = {
    queue: {
      findDue: async () => [...waiting],
      async claim() {
        await claiming();
        calls.push('claim');
        waiting.clear();
        return [...rows];
      },
      finish: record('finish'),
      release: record('release'),
      sweep: async () => 0,
      backlog: async () => ({ count: 0, oldestSeconds: 0 }),
      getEvents: async () => new Map(rows.map(({ event_id }) => [event_id, { body: '{}' }])),
    },
    postponements: { postpone: async () => 0, resume: record('resume') },
    metrics: { recordAttempt: () => undefined, recordFinished: () => undefined },
    breakers: createCircuitBreakers({ firstPauseMs: 1, maxPauseMs: 1 }),
    configs: {
      getReceivers: async () => new Map(rows.map(({ config_id }) => [config_id, createReceiver(config_id)])),
      disable: record('disable'),
    },
    sender: {
      async send() {
        calls.push('send');
        return { http_status: 200, duration_ms: 1, error: null, retry_after: undefined };
      },
      checkTarget: async () => undefined,
      inFlight: () => 0,
      close: record('close'),
    },
    tracing: untraced,
    log: { info: () => undefined },
    delaysMs: [1, 1],
    lockMs: 3_600_000,
    retryForMs: 1_000,
    now: () => new Date(),
    random: () => 0,
    onError: () => undefined,
  };
  return { deps, calls };
}

function createReceiver(id: string): Receiver {
  const secrets = [new Secret(formatSecret(new Uint8Array(32)))];
  return { id, url: 'https://example.com/', isActive: true, secrets };
}

function row(): ClaimedRow {
  const ids = { _id: newId(), event_id: newId(), config_id: newId(), organization_id: newId() };
  return { ...ids, event_type: 'document.published', attempts: 0, lock_token: newId() };
}

test('a row claimed during a stop is released and not sent', async () => {
  let claiming = false;
  let release: () => void = () => undefined;
  const { deps, calls } = fakes([row(), row()], async () => {
    claiming = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const worker = createDispatcher(deps);
  worker.start();
  await until('the claim', async () => claiming);
  const stopping = worker.stop();
  release();
  await stopping;
  expect(calls).toEqual(['claim', 'release', 'close']);
});

test('a delivery is claimed, sent and recorded', async () => {
  const { deps, calls } = fakes([row()], async () => undefined);
  const worker = createDispatcher(deps);
  worker.start();
  await until('the outcome to be recorded', async () => calls.includes('finish'));
  await worker.stop();
  expect(calls).toEqual(['claim', 'send', 'finish', 'close']);
});

const toNewDelivery = ({ lock_token: _, ...row }: ClaimedRow) => ({
  row,
  receiver: createReceiver(row.config_id),
  event: { body: '{}' },
});

/** Creates a dispatcher without due rows. */
function createIdle() {
  const { deps, calls } = fakes([], async () => undefined);
  return { deps, calls, worker: createDispatcher(deps) };
}

test('a delivery with a reserved slot is sent without a claim', async () => {
  const { calls, worker } = createIdle();
  worker.start();
  const delivery = toNewDelivery(row());
  const reservation = worker.reserve([delivery]);
  expect([...reservation.ids]).toEqual([delivery.row._id]);
  expect(calls).toEqual([]);
  reservation.confirm(reservation.ids);
  await until('the outcome to be recorded', async () => calls.includes('finish'));
  await worker.stop();
  expect(calls).toEqual(['send', 'finish', 'close']);
});

test('a delivery without a reserved slot is claimed', async () => {
  const dueRow = row();
  const { deps, calls } = fakes([dueRow], async () => undefined);
  deps.queue.findDue = async () => [];
  const worker = createDispatcher(deps);
  worker.start();
  const delivery = toNewDelivery(dueRow);
  const others = Array.from({ length: 4 }, () => toNewDelivery({ ...row(), config_id: dueRow.config_id }));
  const earlier = worker.reserve(others);
  const reservation = worker.reserve([delivery]);
  expect([earlier.ids.size, reservation.ids.size]).toEqual([4, 0]);
  reservation.confirm(new Set([delivery.row._id]));
  earlier.cancel();
  await until('the outcome to be recorded', async () => calls.includes('finish'));
  await worker.stop();
  expect(calls).toEqual(['claim', 'send', 'finish', 'close']);
});

test('a reservation sends only inserted deliveries and frees other slots', async () => {
  const { calls, worker } = createIdle();
  worker.start();
  const config_id = newId();
  const deliveries = Array.from({ length: 4 }, () => toNewDelivery({ ...row(), config_id }));
  const reservation = worker.reserve(deliveries);
  reservation.confirm(new Set(deliveries.slice(0, 1).map(({ row }) => row._id)));
  const others = worker.reserve(deliveries.slice(1));
  expect(others.ids.size).toBe(3);
  others.cancel();
  await worker.stop();
  expect(calls).toEqual(['send', 'finish', 'close']);
});

test('a cancelled reservation sends nothing and frees its slots', async () => {
  const { calls, worker } = createIdle();
  worker.start();
  const config_id = newId();
  const deliveries = Array.from({ length: 4 }, () => toNewDelivery({ ...row(), config_id }));
  const reservation = worker.reserve(deliveries);
  reservation.cancel();
  reservation.confirm(reservation.ids);
  const later = worker.reserve(deliveries);
  expect(later.ids.size).toBe(4);
  later.cancel();
  await worker.stop();
  expect(calls).toEqual(['close']);
});

test('a delivery that took too long to insert is not sent', async () => {
  const { deps, calls } = fakes([], async () => undefined);
  const worker = createDispatcher({ ...deps, lockMs: 3 });
  worker.start();
  const reservation = worker.reserve([toNewDelivery(row())]);
  const reservedAt = performance.now();
  await until('a third of the lock to be over', async () => performance.now() > reservedAt + 2);
  reservation.confirm(reservation.ids);
  await worker.stop();
  expect(calls).toEqual(['close']);
});

test('a webhook without a readable secret gets no reserved slot', async () => {
  const { worker } = createIdle();
  worker.start();
  const delivery = toNewDelivery(row());
  expect(worker.reserve([{ ...delivery, receiver: { ...delivery.receiver, secrets: [] } }]).ids.size).toBe(0);
  await worker.stop();
});

test('an endpoint with an open circuit breaker gets no reserved slot', async () => {
  const { deps } = fakes([], async () => undefined);
  const [blocked, other] = [toNewDelivery(row()), toNewDelivery(row())];
  const breakers = createCircuitBreakers({ firstPauseMs: 60_000, maxPauseMs: 60_000 });
  for (let failures = 0; failures < 5; failures += 1)
    breakers.recordFailure(blocked.row.config_id, performance.now());
  const worker = createDispatcher({ ...deps, breakers });
  worker.start();
  const reservation = worker.reserve([blocked, other]);
  expect(reservation.ids).toEqual(new Set([other.row._id]));
  reservation.cancel();
  await worker.stop();
});

test('a stop waits for open reservations and sends their deliveries', async () => {
  const { calls, worker } = createIdle();
  worker.start();
  const reservation = worker.reserve([toNewDelivery(row())]);
  const stopping = worker.stop();
  for (let count = 0; count < 10; count += 1) await nextTurn();
  expect(calls).toEqual([]);
  reservation.confirm(reservation.ids);
  await stopping;
  expect(calls).toEqual(['send', 'finish', 'close']);
});

test('no slot is reserved before the start or after the stop', async () => {
  const { worker } = createIdle();
  expect(worker.reserve([toNewDelivery(row())]).ids.size).toBe(0);
  worker.start();
  await worker.stop();
  expect(worker.reserve([toNewDelivery(row())]).ids.size).toBe(0);
});
