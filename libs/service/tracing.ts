/** Tracing: units of work, what is gathered while they last, and their spans where traces are wanted. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Command } from '#libs/store';
import { type OtlpOptions, type SpanSource, startOtlp } from './otlp.ts';

/**
 * Ways in which a unit of work is begun: by a request, by an event that was heard or is said, by a request of
 * ours.
 */
export type SpanType = 'server' | 'consumer' | 'producer' | 'client';

/** What a unit of work is, before it begins. */
export interface SpanOptions {
  name: string;
  kind: SpanType;
  /** The `traceparent` of what it follows from. */
  from?: unknown;
  attributes?: Attributes;
}

/** What was gathered in a unit of work, for its line in the log. */
export interface WorkStats {
  /** Absent where nothing is traced. */
  trace_id?: string;
  mongodb_commands: number;
  mongodb_ms: number;
  /** Events that were said. */
  events: number;
}

export interface Tracing {
  /** Runs a unit of work; a span of its own ends with it. */
  withSpan<R>(options: SpanOptions, work: () => Promise<R>): Promise<R>;
  /** Says more of the span of what is going on; an error makes it one that failed. */
  setAttributes(attributes: Attributes, error?: unknown): void;
  /** What was gathered so far. */
  workStats(): WorkStats;
  /** A command to MongoDB that has ended in what is going on. */
  recordCommand(command: Command): void;
  /** Events that were said in what is going on. */
  recordPublishedEvents(count: number): void;
  /** The W3C `traceparent` of what is going on; nothing where nothing is traced. */
  current(): string | undefined;
  stop(): Promise<void>;
}

/** A unit of work that is going on. */
interface WorkUnit {
  context: Context | undefined;
  span: Span | undefined;
  commands: number;
  commandMs: number;
  events: number;
  isOver: boolean;
}

const otelKinds = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  client: SpanKind.CLIENT,
};

/**
 * Begins to trace; without an endpoint, units of work are gathered all the same and nothing is loaded or
 * sent.
 */
export async function startTracing(otlp: OtlpOptions | undefined): Promise<Tracing> {
  const spans = otlp && (await startOtlp(otlp));
  const currentUnit = new AsyncLocalStorage<WorkUnit>();
  // what goes on after the end of a unit, e.g. in a worker that it woke, is none of its own
  const getUnit = () => {
    const unit = currentUnit.getStore();
    return unit?.isOver ? undefined : unit;
  };

  return {
    async withSpan(options, work) {
      const unit: WorkUnit = {
        ...startSpan(spans, options),
        commands: 0,
        commandMs: 0,
        events: 0,
        isOver: false,
      };
      try {
        return await currentUnit.run(unit, work);
      } catch (error) {
        markFailed(unit.span, error);
        throw error;
      } finally {
        unit.isOver = true;
        unit.span?.end();
      }
    },
    setAttributes(attributes, error) {
      const span = getUnit()?.span;
      span?.setAttributes(attributes);
      if (error !== undefined) markFailed(span, error);
    },
    workStats() {
      const { commands = 0, commandMs = 0, events = 0, context } = getUnit() ?? {};
      const trace_id = context && trace.getSpanContext(context)?.traceId;
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
          kind: SpanKind.CLIENT,
          startTime: endTime - durationMs,
          attributes: {
            'db.system.name': 'mongodb',
            'db.operation.name': name,
            ...(collection && { 'db.collection.name': collection }),
          },
        },
        unit.context,
      );
      if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endTime);
    },
    recordPublishedEvents(count) {
      const unit = getUnit();
      if (unit) unit.events += count;
    },
    current() {
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
  { name, kind, from, attributes }: SpanOptions,
): Pick<WorkUnit, 'context' | 'span'> {
  if (!spans) return { context: undefined, span: undefined };
  const parent = spans.toContext(from, kind === 'server' ? 'caller' : 'us');
  const span = spans.tracer.startSpan(
    name,
    { kind: otelKinds[kind], ...(attributes && { attributes }) },
    parent,
  );
  return { context: trace.setSpan(parent, span), span };
}

function markFailed(span: Span | undefined, error: unknown): void {
  if (!span?.isRecording()) return;
  // a word says by itself what failed
  const named = typeof error === 'object' && error !== null && 'name' in error ? error.name : error;
  const type = typeof named === 'string' ? named : 'Error';
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
