/** Checks the trace of a publication: one connected tree of spans over all processes, down to the webhook request. */
import { expect } from '@jest/globals';
import type { ReceivedSpan } from '#libs/testing';

/** The spans of a publication. Each is the parent of the next one. */
const expectedSteps = [
  { name: 'publishDocument', kind: 'server', process: 'documents' },
  { name: 'publish document.published', kind: 'producer', process: 'documents' },
  { name: 'process document.published', kind: 'consumer', process: 'webhook-delivery' },
  { name: 'deliver document.published', kind: 'client', process: 'webhook-delivery' },
] as const;

/** Expects the spans of a publication, with their MongoDB commands, in one trace between caller and receiver. */
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
  const [request, published, consumed, delivered] = steps;
  for (const span of [published, consumed]) expect(span?.attributes['messaging.system']).toBe('rabbitmq');
  expect(receiver).toBe(`00-${traceId}-${delivered?.spanId}-01`);
  // every span has its parent in the trace
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
  expect(commandsUnder(consumed)).toEqual(
    expect.arrayContaining(['insert webhook_events', 'update webhook_deliveries']),
  );
  expect(request?.attributes['http.response.status_code']).toBe(200);
  expect(delivered?.attributes['pds.event_id']).toBe(event);
  // other consumers process the event in the same trace
  const consumers = spans.filter(({ kind }) => kind === 'consumer').map(({ process }) => process);
  expect(consumers).toEqual(expect.arrayContaining(['identity', 'webhook-delivery']));
}
