/** One trace: what a request did in every process, from the door to a receiver of webhooks, as one connected tree. */
import { expect } from '@jest/globals';
import type { ReceivedSpan } from '#libs/testing';

/** The way of a publication, each step below the one before it. */
const expectedSteps = [
  { name: 'publishDocument', kind: 'server', process: 'documents' },
  { name: 'publish document.published', kind: 'producer', process: 'documents' },
  { name: 'process document.published', kind: 'consumer', process: 'webhook-delivery' },
  { name: 'deliver document.published', kind: 'client', process: 'webhook-delivery' },
] as const;

/** Expects the spans of a publication in one trace: under the caller's span, with MongoDB, down to what the receiver was told. */
export function expectOneTrace(
  all: readonly ReceivedSpan[],
  { caller, receiver, event }: { caller: string; receiver: string; event: string },
): void {
  const [, traceId = '', callerSpan = ''] = caller.split('-');
  const spans = all.filter((span) => span.traceId === traceId);
  const steps = expectedSteps.map((step) => {
    const found = spans.filter(({ name, kind, process }) => {
      return name === step.name && kind === step.kind && process === step.process;
    });
    expect([step.name, found.length]).toEqual([step.name, 1]);
    return found[0];
  });
  expect(steps.map((span) => span?.parentSpanId)).toEqual([
    callerSpan,
    ...steps.slice(0, -1).map((span) => span?.spanId),
  ]);
  const [request, , heard, delivered] = steps;
  expect(receiver).toBe(`00-${traceId}-${delivered?.spanId}-01`);
  // nothing hangs in the air
  const ids = new Set([callerSpan, ...spans.map(({ spanId }) => spanId)]);
  expect(spans.filter(({ parentSpanId }) => !ids.has(parentSpanId))).toEqual([]);
  const commandsUnder = (parent: ReceivedSpan | undefined) =>
    spans
      .filter(({ parentSpanId, attributes }) => {
        return parentSpanId === parent?.spanId && attributes['db.system.name'] === 'mongodb';
      })
      .map(({ name }) => name);
  expect(commandsUnder(request)).toEqual(
    expect.arrayContaining(['insert documents_outbox', 'commitTransaction']),
  );
  expect(commandsUnder(heard)).toEqual(
    expect.arrayContaining(['insert webhook_events', 'update webhook_deliveries']),
  );
  expect(request?.attributes['http.response.status_code']).toBe(200);
  expect(delivered?.attributes['pds.event_id']).toBe(event);
  // the others hear of it in the same trace
  const hearers = spans.filter(({ kind }) => kind === 'consumer').map(({ process }) => process);
  expect(hearers).toEqual(expect.arrayContaining(['identity', 'webhook-delivery']));
}
