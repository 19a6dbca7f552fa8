/** What a stop does with deliveries that were claimed and not yet sent. */
import { expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { until } from '#libs/testing';
import { type Delivering, delivering } from './delivering.ts';
import { breakers } from './rules/breaker.ts';
import { secretFrom } from './rules/signature.ts';
import type { Receiver } from './store/configs.ts';
import type { Claimed } from './store/queue.ts';

/** A queue with these due rows, which writes down what is done with them; `claiming` is waited for in every claim. */
function fakes(rows: readonly Claimed[], claiming: () => Promise<void>) {
  const done: string[] = [];
  const note = (what: string) => async () => {
    done.push(what);
  };
  const waiting = new Set(rows);
  const of: Delivering = {
    queue: {
      due: async () => [...waiting],
      async claim() {
        await claiming();
        waiting.clear();
        return [...rows];
      },
      async count(claimed) {
        done.push('count');
        return claimed.map((row) => ({ ...row, attempts: row.attempts + 1 }));
      },
      finish: note('finish'),
      giveBack: note('give back'),
      sweep: async () => 0,
      backlog: async () => ({ count: 0, oldestSeconds: 0 }),
      bodies: async () => new Map(rows.map(({ event_id }) => [event_id, '{}'])),
    },
    postponing: { postpone: async () => 0, resume: note('resume') },
    metering: { attempted: () => undefined, ended: () => undefined },
    breakers: breakers({ pauseMs: 1, longestMs: 1 }),
    configs: {
      receivers: async () => new Map(rows.map(({ config_id }) => [config_id, receiverOf(config_id)])),
      switchOff: note('switch off'),
    },
    sender: {
      async send() {
        done.push('send');
        return { http_status: 200, duration_ms: 1, error: null, retry_after: undefined };
      },
      faultOf: async () => undefined,
      close: note('close'),
    },
    delaysMs: [1, 1],
    keepMs: 1_000,
    now: () => new Date(),
    random: () => 0,
    trouble: () => undefined,
  };
  return { of, done };
}

function receiverOf(id: string): Receiver {
  const secrets = [new Secret(secretFrom(new Uint8Array(32)))];
  return { id, url: 'https://example.com/', isActive: true, secrets };
}

function row(): Claimed {
  const ids = { _id: newId(), event_id: newId(), config_id: newId(), organization_id: newId() };
  return { ...ids, event_type: 'document.published', attempts: 0, lock_token: newId() };
}

test('what is claimed while the worker stops is given back, uncounted and unsent', async () => {
  let claiming = false;
  let release: () => void = () => undefined;
  const { of, done } = fakes([row(), row()], async () => {
    claiming = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const worker = delivering(of);
  worker.start();
  await until('the claim', async () => claiming);
  const stopping = worker.stop();
  release();
  await stopping;
  expect(done).toEqual(['give back', 'close']);
});

test('a running worker counts before it sends, and records after', async () => {
  const { of, done } = fakes([row()], async () => undefined);
  const worker = delivering(of);
  worker.start();
  await until('the record', async () => done.includes('finish'));
  await worker.stop();
  expect(done).toEqual(['count', 'send', 'finish', 'close']);
});

test('what the bell brings is delivered without a look', async () => {
  const fresh = row();
  const { of, done } = fakes([fresh], async () => undefined);
  of.queue.due = async () => [];
  const worker = delivering(of);
  worker.start();
  worker.ring([fresh]);
  await until('the record', async () => done.includes('finish'));
  await worker.stop();
  expect(done).toEqual(['count', 'send', 'finish', 'close']);
});

test('the bell does nothing before the start and after the stop', async () => {
  const { of, done } = fakes([row()], async () => undefined);
  const worker = delivering(of);
  worker.ring([row()]);
  await worker.stop();
  worker.ring([row()]);
  expect(done).toEqual(['close']);
});
