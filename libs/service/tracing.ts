/** Tracing: our own spans over the OpenTelemetry API; nothing is loaded or measured unless an endpoint is set. */
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

export interface Tracing {
  /** Runs work in a server span that continues the caller's trace. */
  span<R>(name: string, headers: Record<string, unknown>, work: () => Promise<R>): Promise<R>;
  /** The W3C `traceparent` of what is going on. */
  current(): string | undefined;
  stop(): Promise<void>;
}

/** Starts to export spans to an OTLP endpoint, or gives a tracing that does nothing. */
export async function startTracing(endpoint: string | undefined, serviceName: string): Promise<Tracing> {
  if (!endpoint)
    return { span: (_name, _headers, work) => work(), current: () => undefined, stop: async () => undefined };
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { BatchSpanProcessor } = await import('@opentelemetry/sdk-trace');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const sdk = new NodeSDK({
    serviceName,
    spanProcessors: [new BatchSpanProcessor({ exporter })],
    instrumentations: [],
  });
  sdk.start();
  const tracer = trace.getTracer('process-document-service');
  return {
    span(name, headers, work) {
      const caller = propagation.extract(context.active(), headers);
      return tracer.startActiveSpan(name, { kind: SpanKind.SERVER }, caller, async (span) => {
        try {
          return await work();
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      });
    },
    current() {
      const carrier: { traceparent?: string } = {};
      propagation.inject(context.active(), carrier);
      return carrier.traceparent;
    },
    stop: () => sdk.shutdown(),
  };
}
