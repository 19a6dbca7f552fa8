/** Spans over OTLP: sampled, gathered and sent as protobuf over HTTP, the same under every runtime. */
import { type Context, context, ROOT_CONTEXT, type Tracer, trace } from '@opentelemetry/api';
import packed from '../../package.json' with { type: 'json' };

/** Where spans go, and which. */
export interface OtlpOptions {
  /** Base of the endpoint; `/v1/traces` is added. */
  endpoint: string;
  /** Of the process. */
  name: string;
  /** The share of traces that is kept, 0 to 1. */
  ratio: number;
  /** Whether a caller who says that a trace is, or is not, kept is believed. */
  trustsCallerSampling: boolean;
}

/** What spans are made with. */
export interface SpanSource {
  tracer: Tracer;
  /** The context that a `traceparent` names, or a new one. */
  toContext(traceparent: unknown, by: 'caller' | 'us'): Context;
  /** The `traceparent` of a context. */
  toTraceparent(context: Context): string | undefined;
  /** Sends what is left. */
  stop(): Promise<void>;
}

/**
 * Loads what it takes and starts; one at a time in a process, because the SDK registers its tracer provider
 * for all of it.
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
  // what came over the bus or out of the database was decided by us: those parents count as local
  const sampler = trustsCallerSampling
    ? new ParentBasedSampler({ root })
    : new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.name': name, 'service.version': packed.version }),
    autoDetectResources: false,
    sampler,
    spanProcessors: [new BatchSpanProcessor({ exporter })],
    // units of work carry their context themselves; metrics and logs go other ways
    textMapPropagator: null,
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  const propagator = new W3CTraceContextPropagator();
  return {
    tracer: trace.getTracer(packed.name, packed.version),
    toContext(traceparent, by) {
      if (typeof traceparent !== 'string') return ROOT_CONTEXT;
      const theirs = propagator.extract(ROOT_CONTEXT, { traceparent }, reader);
      const parent = trace.getSpanContext(theirs);
      if (!parent || by === 'caller') return theirs;
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
