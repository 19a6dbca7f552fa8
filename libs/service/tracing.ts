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
import { type Otlp, type Spans, startOtlp } from './otlp.ts';

/** Ways in which a unit of work is begun: by a request, by an event that was heard or is said, by a request of ours. */
export type Kind = 'server' | 'consumer' | 'producer' | 'client';

/** What a unit of work is, before it begins. */
export interface SpanOptions {
  name: string;
  kind: Kind;
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
  command(command: Command): void;
  /** Events that were said in what is going on. */
  said(count: number): void;
  /** The W3C `traceparent` of what is going on; nothing where nothing is traced. */
  current(): string | undefined;
  stop(): Promise<void>;
}

/** A unit of work that is going on. */
interface Unit {
  context: Context | undefined;
  span: Span | undefined;
  commands: number;
  commandMs: number;
  events: number;
  isOver: boolean;
}

const kinds = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  client: SpanKind.CLIENT,
};

/** Begins to trace; without an endpoint, units of work are gathered all the same and nothing is loaded or sent. */
export async function startTracing(otlp: Otlp | undefined): Promise<Tracing> {
  const spans = otlp && (await startOtlp(otlp));
  const going = new AsyncLocalStorage<Unit>();
  // what goes on after the end of a unit, e.g. in a worker that it woke, is none of its own
  const now = () => {
    const unit = going.getStore();
    return unit?.isOver ? undefined : unit;
  };

  return {
    async withSpan(options, work) {
      const unit: Unit = { ...begin(spans, options), commands: 0, commandMs: 0, events: 0, isOver: false };
      try {
        return await going.run(unit, work);
      } catch (error) {
        fail(unit.span, error);
        throw error;
      } finally {
        unit.isOver = true;
        unit.span?.end();
      }
    },
    setAttributes(attributes, error) {
      const span = now()?.span;
      span?.setAttributes(attributes);
      if (error !== undefined) fail(span, error);
    },
    workStats() {
      const { commands = 0, commandMs = 0, events = 0, context } = now() ?? {};
      const trace_id = context && trace.getSpanContext(context)?.traceId;
      const mongodb_ms = Math.round(commandMs * 10) / 10;
      return { ...(trace_id && { trace_id }), mongodb_commands: commands, mongodb_ms, events };
    },
    command({ name, collection = '', isFailed, durationMs }) {
      const unit = now();
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
    said(count) {
      const unit = now();
      if (unit) unit.events += count;
    },
    current() {
      const context = now()?.context;
      return context && spans?.told(context);
    },
    async stop() {
      await spans?.stop();
    },
  };
}

function begin(
  spans: Spans | undefined,
  { name, kind, from, attributes }: SpanOptions,
): Pick<Unit, 'context' | 'span'> {
  if (!spans) return { context: undefined, span: undefined };
  const parent = spans.from(from, kind === 'server' ? 'caller' : 'us');
  const span = spans.tracer.startSpan(name, { kind: kinds[kind], ...(attributes && { attributes }) }, parent);
  return { context: trace.setSpan(parent, span), span };
}

function fail(span: Span | undefined, error: unknown): void {
  if (!span?.isRecording()) return;
  // a word says by itself what failed
  const named = typeof error === 'object' && error !== null && 'name' in error ? error.name : error;
  const type = typeof named === 'string' ? named : 'Error';
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
