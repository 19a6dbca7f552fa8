/** Tests the order of the dispatcher's steps and its stop with fakes. */
import { expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { until } from '#libs/testing';
import { createCircuitBreakers } from '../rules/circuit-breaker.ts';
import { formatSecret } from '../rules/signature.ts';
import { createDelivery } from '../store/new-deliveries.ts';
import type { ClaimedRow } from '../store/queue.ts';
import type { Receiver } from '../store/receivers.ts';
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
      getEvents: async () => new Map(rows.map(({ event_id }) => [event_id, { body: '{}' }])),
    },
    waiting: { postpone: async () => 0, resume: record('resume'), failWaiting: async () => 0 },
    metrics: { recordAttempt: () => undefined, recordFinished: () => undefined },
    breakers: createCircuitBreakers({ firstPauseMs: 1, maxPauseMs: 1 }),
    receivers: {
      getByIds: async () => new Map(rows.map(({ config_id }) => [config_id, createReceiver(config_id)])),
      getBreakerGeneration: async () => '',
      exists: async () => true,
    },
    failing: { disableGone: record('disable') },
    newDeliveries: {
      async insertMissing(newRows) {
        calls.push('insert');
        return [...newRows];
      },
    },
    lockMs: 60_000,
    sender: {
      async send() {
        calls.push('send');
        return { http_status: 200, duration_ms: 1, error: null, retry_after: undefined, logged: {} };
      },
      checkTarget: async () => undefined,
      inFlight: () => 0,
      close: record('close'),
    },
    tracing: untraced,
    log: { info: () => undefined },
    delaysMs: [1, 1],
    retryForMs: 1_000,
    now: () => new Date(),
    random: () => 0,
    onError: () => undefined,
  };
  return { deps, calls };
}

function createReceiver(id: string): Receiver {
  const secrets = [new Secret(formatSecret(new Uint8Array(32)))];
  return { id, url: 'https://example.com/', isActive: true, breakerGeneration: '', secrets };
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

/** Creates new deliveries of one event to one endpoint. */
function createNew(count: number) {
  const event = { event_id: newId(), event_type: 'document.published', organization_id: newId() };
  const receiver = createReceiver(newId());
  const ref = { ...event, document_id: null };
  const rows = Array.from({ length: count }, () => createDelivery(ref, receiver.id, new Date()));
  return { event: { ...ref, body: '{}' }, rows, recipients: [receiver] };
}

test('a new delivery that gets a slot is sent without a claim', async () => {
  const { deps, calls } = fakes([], async () => undefined);
  const worker = createDispatcher(deps);
  worker.start();
  await worker.insertAndDeliver(createNew(1));
  await until('the outcome to be recorded', async () => calls.includes('finish'));
  await worker.stop();
  expect(calls).toEqual(['insert', 'send', 'finish', 'close']);
});

test('a new delivery without a slot is claimed', async () => {
  const { deps, calls } = fakes([], async () => undefined);
  const worker = createDispatcher(deps);
  worker.start();
  await worker.insertAndDeliver(createNew(5));
  await until('a claim', async () => calls.includes('claim'));
  await worker.stop();
  expect(calls.filter((call) => call === 'send')).toHaveLength(4);
});

test('slots are free again after a failed insert', async () => {
  const { deps, calls } = fakes([], async () => undefined);
  const { insertMissing } = deps.newDeliveries;
  let failures = 1;
  deps.newDeliveries.insertMissing = (...all) => {
    failures -= 1;
    return failures < 0 ? insertMissing(...all) : Promise.reject(new Error('down'));
  };
  const worker = createDispatcher(deps);
  worker.start();
  const deliveries = createNew(4);
  await expect(worker.insertAndDeliver(deliveries)).rejects.toThrow('down');
  await worker.insertAndDeliver(deliveries);
  await until('four requests', async () => calls.filter((call) => call === 'send').length === 4);
  await worker.stop();
});

test('before the start and after the stop, a new delivery is only inserted', async () => {
  const { deps, calls } = fakes([], async () => undefined);
  const worker = createDispatcher(deps);
  await worker.insertAndDeliver(createNew(1));
  worker.start();
  await worker.stop();
  await worker.insertAndDeliver(createNew(1));
  expect(calls).toEqual(['insert', 'close', 'insert']);
});

test('a claim that fails is released, and its rows are claimed again', async () => {
  const due = row();
  const { deps, calls } = fakes([due], async () => undefined);
  const { getByIds } = deps.receivers;
  let failures = 1;
  deps.receivers.getByIds = (ids) => {
    failures -= 1;
    return failures < 0 ? getByIds(ids) : Promise.reject(new Error('down'));
  };
  deps.queue.findDue = async () => (calls.includes('send') ? [] : [due]);
  const worker = createDispatcher(deps);
  worker.start();
  await until('the outcome to be recorded', async () => calls.includes('finish'));
  await worker.stop();
  expect(calls).toEqual(['claim', 'release', 'claim', 'send', 'finish', 'close']);
});
