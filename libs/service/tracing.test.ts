/**
 * Traces reach an OTLP endpoint, continue the caller's, keep the share that is asked for, and cost nothing
 * when there is none.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type OtlpEndpoint, otlpEndpoint } from '#libs/testing';
import type { OtlpOptions } from './otlp.ts';
import { startTracing, type Tracing } from './tracing.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const kept = `00-${traceId}-b7ad6b7169203331-01`;
const notKept = `00-${traceId}-b7ad6b7169203331-00`;

let there: OtlpEndpoint;
beforeAll(async () => {
  there = await otlpEndpoint();
});
afterAll(() => there?.close());

/** Does work with a tracing of its own, under a name by which its spans are found; gives what was sent. */
async function traced(
  name: string,
  more: Partial<OtlpOptions>,
  work: (tracing: Tracing) => Promise<unknown>,
) {
  const tracing = await startTracing({
    ...{ endpoint: there.origin, name, ratio: 1, trustsCallerSampling: true },
    ...more,
  });
  await work(tracing);
  await tracing.stop();
  return there.spans().filter(({ process }) => process === name);
}

const find = (collection: string) => ({
  name: 'find',
  collection,
  isFailed: false,
  startedAt: 0,
  durationMs: 3,
});

test('a request, its commands to MongoDB and what follows from it are one trace, under the caller’s span', async () => {
  const told: (string | undefined)[] = [];
  const spans = await traced('one-trace', {}, async (tracing) => {
    await tracing.withSpan({ name: 'publishDocument', kind: 'server', from: kept }, async () => {
      tracing.recordCommand(find('documents'));
      tracing.setAttributes({ 'http.response.status_code': 200 });
      told.push(tracing.current());
    });
    await tracing.withSpan(
      { name: 'process document.published', kind: 'consumer', from: told[0] },
      async () => {
        told.push(tracing.current());
      },
    );
  });
  expect(spans.map(({ traceId }) => traceId)).toEqual([traceId, traceId, traceId]);
  const [command, request, heard] = spans;
  expect(request).toMatchObject({
    name: 'publishDocument',
    kind: 'server',
    parentSpanId: 'b7ad6b7169203331',
  });
  expect(request?.attributes['http.response.status_code']).toBe(200);
  expect(command).toMatchObject({ name: 'find documents', kind: 'client', parentSpanId: request?.spanId });
  expect(command?.durationMs).toBeCloseTo(3, 0);
  expect(heard).toMatchObject({ kind: 'consumer', parentSpanId: request?.spanId });
  expect(told).toEqual([request, heard].map((span) => `00-${traceId}-${span?.spanId}-01`));
});

test('a span of what failed says so', async () => {
  const spans = await traced('failing', {}, async (tracing) => {
    const failing = tracing.withSpan({ name: 'x', kind: 'server' }, async () => {
      throw new TypeError('no');
    });
    await expect(failing).rejects.toThrow('no');
  });
  expect(spans).toMatchObject([{ isError: true, attributes: { 'error.type': 'TypeError' } }]);
});

test('the share of traces that is asked for is kept, and no more', async () => {
  const many = async (tracing: Tracing) => {
    for (let at = 0; at < 1000; at += 1)
      await tracing.withSpan({ name: 'x', kind: 'server' }, async () => {});
  };
  const spans = await traced('a-twentieth', { ratio: 0.05 }, many);
  expect(spans.length).toBeGreaterThan(15);
  expect(spans.length).toBeLessThan(120);
  expect(await traced('none', { ratio: 0 }, many)).toEqual([]);
});

test('callers decide for their trace only where they are believed; what we decided holds either way', async () => {
  const sent = async (name: string, more: Partial<OtlpOptions>, from: string, kind: 'server' | 'consumer') =>
    (await traced(name, more, (tracing) => tracing.withSpan({ name: 'x', kind, from }, async () => {})))
      .length;
  const distrust = { believesCallers: false };
  expect(await sent('believed', { ratio: 0 }, kept, 'server')).toBe(1);
  expect(await sent('believed-not', { ratio: 1 }, notKept, 'server')).toBe(0);
  expect(await sent('distrusted', { ratio: 0, ...distrust }, kept, 'server')).toBe(0);
  expect(await sent('distrusted-not', { ratio: 1, ...distrust }, notKept, 'server')).toBe(1);
  expect(await sent('ours', { ratio: 0, ...distrust }, kept, 'consumer')).toBe(1);
  expect(await sent('ours-not', { ratio: 1, ...distrust }, notKept, 'consumer')).toBe(0);
});

test('a trace that is not kept is named all the same, so that nobody further on keeps a part of it', async () => {
  let told: string | undefined;
  await traced('named', { ratio: 0 }, (tracing) =>
    tracing.withSpan({ name: 'x', kind: 'server' }, async () => {
      told = tracing.current();
    }),
  );
  expect(told).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test('without an endpoint work just runs, in no trace, and what it did is gathered', async () => {
  const tracing = await startTracing(undefined);
  const gathered = await tracing.withSpan({ name: 'x', kind: 'server', from: kept }, async () => {
    tracing.recordCommand(find('a'));
    tracing.recordCommand(find('b'));
    tracing.recordPublishedEvents(1);
    expect(tracing.current()).toBeUndefined();
    return tracing.workStats();
  });
  expect(gathered).toEqual({ mongodb_commands: 2, mongodb_ms: 6, events: 1 });
  await tracing.stop();
});

test('what a unit of work has woken is none of its own once it is over', async () => {
  const woken = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const spans = await traced('woken', {}, async (tracing) => {
    await tracing.withSpan({ name: 'x', kind: 'server' }, async () => {
      void gate.promise.then(() => {
        tracing.recordCommand(find('later'));
        expect(tracing.current()).toBeUndefined();
        woken.resolve();
      });
    });
    gate.resolve();
    await woken.promise;
  });
  expect(spans.map(({ name }) => name)).toEqual(['x']);
});
