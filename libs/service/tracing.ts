/**
 * Tracing: runs units of work, counts their MongoDB commands and events, and records spans if an endpoint is
 * set.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { Command } from '#libs/store';
import type { OtlpOptions, SpanSource } from './otlp.ts';

/** The kind of a span: a request, a consumed event, a published event, or an outgoing request. */
export type SpanType = 'server' | 'consumer' | 'producer' | 'client';

/** The options of a span. */
export interface SpanOptions {
  name: string;
  kind: SpanType;
  /** The `traceparent` of the parent span. */
  from?: unknown;
  /** When the work arrived, as `performance.now()`. Default: now. */
  arrivedAt?: number;
  attributes?: Attributes;
}

/** Statistics of a unit of work for its log line. */
export interface WorkStats {
  /** Absent if tracing is off. */
  trace_id?: string;
  mongodb_commands: number;
  mongodb_ms: number;
  /** Number of events that were written to the outbox. */
  events: number;
}

/** Runs units of work with their spans and statistics. */
export interface Tracing {
  /** Runs a unit of work in its own span. The span ends when the work settles. */
  withSpan<R>(options: SpanOptions, work: () => Promise<R>): Promise<R>;
  /** Adds attributes to the current span. An error marks the span as failed. */
  setAttributes(attributes: Attributes, error?: unknown): void;
  /** Returns the statistics of the current unit of work. */
  workStats(): WorkStats;
  /** Records a finished MongoDB command of the current unit of work. */
  recordCommand(command: Command): void;
  /** Counts published events of the current unit of work. */
  recordPublishedEvents(count: number): void;
  /** Returns the W3C `traceparent` of the current unit of work, or `undefined` if tracing is off. */
  currentTraceparent(): string | undefined;
  stop(): Promise<void>;
}

/** A running unit of work. */
interface WorkUnit {
  context: Context | undefined;
  span: Span | undefined;
  commands: number;
  commandMs: number;
  events: number;
  hasEnded: boolean;
}

/**
 * Starts tracing. Without an endpoint the OpenTelemetry SDK is not loaded and no spans are recorded, but
 * statistics are collected.
 */
export async function startTracing(otlp: OtlpOptions | undefined): Promise<Tracing> {
  const spans = otlp && (await import('./otlp.ts')).startOtlp(otlp);
  const currentUnit = new AsyncLocalStorage<WorkUnit>();
  // code that still runs after its unit has ended, e.g. in a worker that the unit woke, is not counted
  const getUnit = () => {
    const unit = currentUnit.getStore();
    return unit?.hasEnded ? undefined : unit;
  };

  return {
    async withSpan(options, work) {
      const unit: WorkUnit = {
        ...startSpan(spans, options),
        commands: 0,
        commandMs: 0,
        events: 0,
        hasEnded: false,
      };
      try {
        return await currentUnit.run(unit, work);
      } catch (error) {
        markFailed(spans, unit.span, error);
        throw error;
      } finally {
        unit.hasEnded = true;
        unit.span?.end();
      }
    },
    setAttributes(attributes, error) {
      const span = getUnit()?.span;
      span?.setAttributes(attributes);
      if (error !== undefined) markFailed(spans, span, error);
    },
    workStats() {
      const { commands = 0, commandMs = 0, events = 0, context } = getUnit() ?? {};
      const trace_id = context && spans?.trace.getSpanContext(context)?.traceId;
      const mongodb_ms = Math.round(commandMs * 10) / 10;
      return { ...(trace_id && { trace_id }), mongodb_commands: commands, mongodb_ms, events };
    },
    recordCommand({ name, collection = '', isFailed, durationMs }) {
      const unit = getUnit();
      if (!unit) return;
      unit.commands += 1;
      unit.commandMs += durationMs;
      if (!spans || !unit.context || !unit.span?.isRecording()) return;
      const endTime = Date.now();
      const span = spans.tracer.startSpan(
        `${name} ${collection}`.trim(),
        {
          kind: spans.kinds.client,
          startTime: endTime - durationMs,
          attributes: {
            'db.system.name': 'mongodb',
            'db.operation.name': name,
            ...(collection && { 'db.collection.name': collection }),
          },
        },
        unit.context,
      );
      if (isFailed) spans.setFailed(span);
      span.end(endTime);
    },
    recordPublishedEvents(count) {
      const unit = getUnit();
      if (unit) unit.events += count;
    },
    currentTraceparent() {
      const context = getUnit()?.context;
      return context && spans?.toTraceparent(context);
    },
    async stop() {
      await spans?.stop();
    },
  };
}

function startSpan(
  spans: SpanSource | undefined,
  { name, kind, from, arrivedAt, attributes }: SpanOptions,
): Pick<WorkUnit, 'context' | 'span'> {
  if (!spans) return { context: undefined, span: undefined };
  const parent = spans.toContext(from, kind === 'server' ? 'caller' : 'us');
  const ageMs = arrivedAt === undefined ? 0 : performance.now() - arrivedAt;
  const span = spans.tracer.startSpan(
    name,
    {
      kind: spans.kinds[kind],
      // with a start time, the duration is only precise to a millisecond
      ...(ageMs >= 1 && { startTime: Date.now() - ageMs }),
      ...(attributes && { attributes }),
    },
    parent,
  );
  return { context: spans.trace.setSpan(parent, span), span };
}

function markFailed(spans: SpanSource | undefined, span: Span | undefined, error: unknown): void {
  if (!span?.isRecording()) return;
  // a string is used as the error type itself
  const candidate = typeof error === 'object' && error !== null && 'name' in error ? error.name : error;
  const type = typeof candidate === 'string' ? candidate : 'Error';
  span.setAttribute('error.type', type);
  spans?.setFailed(span);
}
