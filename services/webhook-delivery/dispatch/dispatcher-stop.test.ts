/** Tests the order of the dispatcher's steps and its stop with fakes. */
import { expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { until } from '#libs/testing';
import { createCircuitBreakers } from '../rules/circuit-breaker.ts';
import { formatSecret } from '../rules/signature.ts';
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
      exists: async () => true,
    },
    failing: { disableGone: record('disable') },
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

test('an inserted delivery is claimed at once, without a search', async () => {
  const due = row();
  const { deps, calls } = fakes([due], async () => undefined);
  deps.queue.findDue = async () => [];
  const worker = createDispatcher(deps);
  worker.start();
  worker.enqueue([due]);
  await until('the outcome to be recorded', async () => calls.includes('finish'));
  await worker.stop();
  expect(calls).toEqual(['claim', 'send', 'finish', 'close']);
});

test('nothing is claimed before the start or after the stop', async () => {
  const { deps, calls } = fakes([row()], async () => undefined);
  const due = row();
  deps.queue.findDue = async () => [];
  const worker = createDispatcher(deps);
  worker.enqueue([due]);
  worker.start();
  await worker.stop();
  worker.enqueue([due]);
  expect(calls).toEqual(['close']);
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
