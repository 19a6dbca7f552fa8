/**
 * Exports spans with OTLP: sampled, batched and sent as protobuf over HTTP, under Node and Deno alike. This
 * file is loaded only if an endpoint is set, because it loads the OpenTelemetry SDK.
 */
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TraceAPI,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import packed from '../../package.json' with { type: 'json' };

/** Where spans are sent, and which ones. */
export interface OtlpOptions {
  /** Base URL of the endpoint. `/v1/traces` is appended. */
  endpoint: string;
  /** Name of the process, sent as `service.name`. */
  name: string;
  /** The fraction of traces to sample, 0 to 1. */
  ratio: number;
  /** Whether the sampling decision in a caller's `traceparent` is used. */
  trustsCallerSampling: boolean;
}

/** Creates and exports spans. */
export interface SpanSource {
  tracer: Tracer;
  /** Reads and sets the span of a context. */
  trace: Pick<TraceAPI, 'getSpanContext' | 'setSpan'>;
  /** OpenTelemetry's kinds of spans. */
  kinds: typeof kinds;
  /** Marks a span as failed. */
  setFailed(span: Span): void;
  /**
   * Returns the context of a `traceparent`, or a root context if there is none. `us` marks a parent from our
   * own services.
   */
  toContext(traceparent: unknown, origin: 'caller' | 'us'): Context;
  /** Returns the `traceparent` of a context. */
  toTraceparent(context: Context): string | undefined;
  /** Sends the remaining spans and shuts down. */
  stop(): Promise<void>;
}

/**
 * Starts the OpenTelemetry SDK. Only one can run in a process, because the SDK registers a global
 * tracer provider.
 */
export function startOtlp({ endpoint, name, ratio, trustsCallerSampling }: OtlpOptions): SpanSource {
  const root = new TraceIdRatioBasedSampler(ratio);
  // parents from the bus or the database were sampled by our own services, so they count as local
  const sampler = trustsCallerSampling
    ? new ParentBasedSampler({ root })
    : new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.name': name, 'service.version': packed.version }),
    autoDetectResources: false,
    sampler,
    spanProcessors: [new BatchSpanProcessor({ exporter })],
    // units of work carry their own context; metrics and logs are not sent with OTLP
    textMapPropagator: null,
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  const propagator = new W3CTraceContextPropagator();
  return {
    tracer: trace.getTracer(packed.name, packed.version),
    trace,
    kinds,
    setFailed: (span) => void span.setStatus({ code: SpanStatusCode.ERROR }),
    toContext(traceparent, origin) {
      if (typeof traceparent !== 'string') return ROOT_CONTEXT;
      const extracted = propagator.extract(ROOT_CONTEXT, { traceparent }, reader);
      const parent = trace.getSpanContext(extracted);
      if (!parent || origin === 'caller') return extracted;
      return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: false });
    },
    toTraceparent(context) {
      const carrier: Record<string, string> = {};
      propagator.inject(context, carrier, writer);
      return carrier.traceparent;
    },
    async stop() {
      await sdk.shutdown();
      trace.disable();
      context.disable();
    },
  };
}

const kinds = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  client: SpanKind.CLIENT,
};

const reader = {
  keys: (carrier: Record<string, string>) => Object.keys(carrier),
  get: (carrier: Record<string, string>, key: string) => carrier[key],
};

const writer = {
  set(carrier: Record<string, string>, key: string, value: string) {
    carrier[key] = value;
  },
};
