/** Exports spans with OTLP: sampled, batched and sent as protobuf over HTTP, under Node and Deno alike. */
import { type Context, context, ROOT_CONTEXT, type Tracer, trace } from '@opentelemetry/api';
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
 * Loads and starts the OpenTelemetry SDK. Only one can run in a process, because the SDK registers a global
 * tracer provider.
 */
export async function startOtlp({
  endpoint,
  name,
  ratio,
  trustsCallerSampling,
}: OtlpOptions): Promise<SpanSource> {
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler } = await import(
    '@opentelemetry/sdk-trace'
  );
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const { W3CTraceContextPropagator } = await import('@opentelemetry/core');
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

const reader = {
  keys: (carrier: Record<string, string>) => Object.keys(carrier),
  get: (carrier: Record<string, string>, key: string) => carrier[key],
};

const writer = {
  set(carrier: Record<string, string>, key: string, value: string) {
    carrier[key] = value;
  },
};
