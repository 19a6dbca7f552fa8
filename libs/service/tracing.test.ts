/** Tests for tracing over OTLP: parents, sampling, failed spans, and statistics without an endpoint. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type OtlpEndpoint, otlpEndpoint } from '#libs/testing';
import type { OtlpOptions } from './otlp.ts';
import { startTracing, type Tracing } from './tracing.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const sampled = `00-${traceId}-b7ad6b7169203331-01`;
const notSampled = `00-${traceId}-b7ad6b7169203331-00`;

let endpoint: OtlpEndpoint;
beforeAll(async () => {
  endpoint = await otlpEndpoint();
});
afterAll(() => endpoint?.close());

/** Runs work with its own tracing under a process name. Returns the spans that were sent. */
async function trace(name: string, more: Partial<OtlpOptions>, work: (tracing: Tracing) => Promise<unknown>) {
  const tracing = await startTracing({
    ...{ endpoint: endpoint.origin, name, ratio: 1, trustsCallerSampling: true },
    ...more,
  });
  await work(tracing);
  await tracing.stop();
  return endpoint.spans().filter(({ process }) => process === name);
}

const find = (collection: string) => ({
  name: 'find',
  collection,
  isFailed: false,
  startedAt: 0,
  durationMs: 3,
});

test('a request, its commands and its event are one trace', async () => {
  const traceparents: (string | undefined)[] = [];
  const spans = await trace('one-trace', {}, async (tracing) => {
    await tracing.withSpan({ name: 'publishDocument', kind: 'server', from: sampled }, async () => {
      tracing.recordCommand(find('documents'));
      tracing.setAttributes({ 'http.response.status_code': 200 });
      traceparents.push(tracing.currentTraceparent());
    });
    await tracing.withSpan(
      { name: 'process document.published', kind: 'consumer', from: traceparents[0] },
      async () => {
        traceparents.push(tracing.currentTraceparent());
      },
    );
  });
  expect(spans.map(({ traceId }) => traceId)).toEqual([traceId, traceId, traceId]);
  const [command, request, consumed] = spans;
  expect(request).toMatchObject({
    name: 'publishDocument',
    kind: 'server',
    parentSpanId: 'b7ad6b7169203331',
  });
  expect(request?.attributes['http.response.status_code']).toBe(200);
  expect(command).toMatchObject({ name: 'find documents', kind: 'client', parentSpanId: request?.spanId });
  expect(command?.durationMs).toBeCloseTo(3, 0);
  expect(consumed).toMatchObject({ kind: 'consumer', parentSpanId: request?.spanId });
  expect(traceparents).toEqual([request, consumed].map((span) => `00-${traceId}-${span?.spanId}-01`));
});

test('a span begins when its work arrived', async () => {
  const [span] = await trace('has-waited', {}, (tracing) =>
    tracing.withSpan({ name: 'x', kind: 'server', arrivedAt: performance.now() - 5_000 }, async () => {}),
  );
  expect(span?.durationMs).toBeGreaterThanOrEqual(4_999);
});

test('a span of failed work is marked as failed', async () => {
  const spans = await trace('failing', {}, async (tracing) => {
    const failing = tracing.withSpan({ name: 'x', kind: 'server' }, async () => {
      throw new TypeError('no');
    });
    await expect(failing).rejects.toThrow('no');
  });
  expect(spans).toMatchObject([{ isError: true, attributes: { 'error.type': 'TypeError' } }]);
});

test('the configured fraction of traces is sampled', async () => {
  const runMany = async (tracing: Tracing) => {
    for (let at = 0; at < 1000; at += 1)
      await tracing.withSpan({ name: 'x', kind: 'server' }, async () => {});
  };
  const spans = await trace('a-twentieth', { ratio: 0.05 }, runMany);
  expect(spans.length).toBeGreaterThan(15);
  expect(spans.length).toBeLessThan(120);
  expect(await trace('none', { ratio: 0 }, runMany)).toEqual([]);
});

test('callers decide sampling only if trusted, our services always', async () => {
  const countSpans = async (
    name: string,
    more: Partial<OtlpOptions>,
    from: string,
    kind: 'server' | 'consumer',
  ) =>
    (await trace(name, more, (tracing) => tracing.withSpan({ name: 'x', kind, from }, async () => {})))
      .length;
  const untrusted = { trustsCallerSampling: false };
  expect(await countSpans('trusted', { ratio: 0 }, sampled, 'server')).toBe(1);
  expect(await countSpans('trusted-not-sampled', { ratio: 1 }, notSampled, 'server')).toBe(0);
  expect(await countSpans('untrusted', { ratio: 0, ...untrusted }, sampled, 'server')).toBe(0);
  expect(await countSpans('untrusted-not-sampled', { ratio: 1, ...untrusted }, notSampled, 'server')).toBe(1);
  expect(await countSpans('ours', { ratio: 0, ...untrusted }, sampled, 'consumer')).toBe(1);
  expect(await countSpans('ours-not-sampled', { ratio: 1, ...untrusted }, notSampled, 'consumer')).toBe(0);
});

test('a trace that is not sampled still has a traceparent', async () => {
  let traceparent: string | undefined;
  await trace('named', { ratio: 0 }, (tracing) =>
    tracing.withSpan({ name: 'x', kind: 'server' }, async () => {
      traceparent = tracing.currentTraceparent();
    }),
  );
  expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test('without an endpoint work runs untraced and is still counted', async () => {
  const tracing = await startTracing(undefined);
  const stats = await tracing.withSpan({ name: 'x', kind: 'server', from: sampled }, async () => {
    tracing.recordCommand(find('a'));
    tracing.recordCommand(find('b'));
    tracing.recordPublishedEvents(1);
    expect(tracing.currentTraceparent()).toBeUndefined();
    return tracing.workStats();
  });
  expect(stats).toEqual({ mongodb_commands: 2, mongodb_ms: 6, events: 1 });
  await tracing.stop();
});

test('work that continues after its unit is not part of the trace', async () => {
  const woken = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const spans = await trace('woken', {}, async (tracing) => {
    await tracing.withSpan({ name: 'x', kind: 'server' }, async () => {
      void gate.promise.then(() => {
        tracing.recordCommand(find('later'));
        expect(tracing.currentTraceparent()).toBeUndefined();
        woken.resolve();
      });
    });
    gate.resolve();
    await woken.promise;
  });
  expect(spans.map(({ name }) => name)).toEqual(['x']);
});
